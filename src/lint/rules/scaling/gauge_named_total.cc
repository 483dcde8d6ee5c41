#include <fmt/format.h>

#include "lint/rule.h"

namespace capstan::lint {
namespace gauge_named_total {
namespace {

void check(const Subject& s) {
  for (const Value& trigger : at(s.object, "spec.triggers").children()) {
    const Value& name = trigger["metadata"]["metricName"];
    if (!name || !name.text.ends_with("_total")) continue;
    for (const std::string_view word : {"waiting", "queue", "pending", "running", "inflight"}) {
      if (name.text.find(word) == name.text.npos) continue;
      s.report(name,
               fmt::format("{} has the ending of a counter, but waiting or running requests are a gauge", name.text));
      break;
    }
  }
}

}  // namespace
}  // namespace gauge_named_total

extern const Rule rule_gauge_named_total;
const Rule rule_gauge_named_total = {
    .id = "gauge-named-total",
    .severity = Severity::info,
    .kinds = "ScaledObject",
    .title = "a gauge has the name of a counter",
    .why =
        "The ending _total means that the metric only grows. Tools and people apply rate() to it, which has no meaning "
        "for a gauge. KEDA itself ignores metricName since 2.12.",
    .fix = "delete the ending",
    .source = "Prometheus naming conventions",
    .bad = R"(apiVersion: keda.sh/v1alpha1
kind: ScaledObject
spec:
  scaleTargetRef: {name: a}
  minReplicaCount: 1
  maxReplicaCount: 4
  triggers:
    - type: prometheus
      metadata: {metricName: inference_requests_waiting_total, query: 'sum(x)', threshold: "5"}
)",
    .good = R"(apiVersion: keda.sh/v1alpha1
kind: ScaledObject
spec:
  scaleTargetRef: {name: a}
  minReplicaCount: 1
  maxReplicaCount: 4
  triggers: [{type: prometheus, name: inference_requests_waiting, metadata: {query: 'sum(x)', threshold: "5"}}]
)",
    .check = gauge_named_total::check,
};

}  // namespace capstan::lint
