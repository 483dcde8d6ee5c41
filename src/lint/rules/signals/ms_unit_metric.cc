#include <fmt/format.h>

#include "lint/query.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace ms_unit_metric {
namespace {

void check(const Subject& s) {
  for_each_metric_name(s.queries(), [&](const NameUse& use) {
    for (const std::string_view ending : {"_ms", "_ms_bucket", "_ms_sum", "_milliseconds"}) {
      if (!use.name.ends_with(ending)) continue;
      s.report_span(use.span, fmt::format("{} is in milliseconds", use.name));
      return;
    }
  });
}

}  // namespace
}  // namespace ms_unit_metric

extern const Rule rule_ms_unit_metric;
const Rule rule_ms_unit_metric = {
    .id = "ms-unit-metric",
    .severity = Severity::info,
    .kinds = "@scaler",
    .title = "a metric is in milliseconds",
    .why =
        "The unit of Prometheus is the second. A threshold of 0.5 that was meant as half a second is then half a "
        "millisecond.",
    .fix = "use seconds, in the name and in the threshold",
    .source = "Prometheus naming conventions",
    .bad = R"(apiVersion: keda.sh/v1alpha1
kind: ScaledObject
spec:
  scaleTargetRef: {name: a}
  minReplicaCount: 1
  maxReplicaCount: 4
  triggers: [{type: prometheus, metadata: {query: 'max(inference_ttft_ms)', threshold: "500"}}]
)",
    .good = R"(apiVersion: keda.sh/v1alpha1
kind: ScaledObject
spec:
  scaleTargetRef: {name: a}
  minReplicaCount: 1
  maxReplicaCount: 4
  triggers: [{type: prometheus, metadata: {query: 'max(inference_ttft_seconds)', threshold: "0.5"}}]
)",
    .check = ms_unit_metric::check,
};

}  // namespace capstan::lint
