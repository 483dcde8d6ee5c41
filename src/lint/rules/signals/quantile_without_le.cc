#include <fmt/format.h>

#include "lint/query.h"
#include "lint/rule.h"
#include "promql/function.h"

namespace capstan::lint {
namespace quantile_without_le {
namespace {

/// Returns the name of the histogram buckets in an expression; empty if it has none.
std::string bucket_in(const promql::Expression& expression) {
  std::string name;
  promql::walk(expression, [&](const promql::Expression& part) {
    const auto* selector = std::get_if<promql::Selector>(&part.node);
    if (selector != nullptr && selector->metric.ends_with("_bucket")) name = selector->metric;
  });
  return name;
}

void check(const Subject& s) {
  for_each_query(s.queries(), [&](const ScalingSignal&, const Query& query) {
    promql::walk(*query.root(), [&](const promql::Expression& expression) {
      const auto* call = std::get_if<promql::Call>(&expression.node);
      if (call == nullptr || call->function->name != "histogram_quantile" || call->arguments.size() != 2) return;
      const promql::Expression& buckets = *call->arguments[1];
      const auto labels = labels_of(buckets);
      // The label "grouped" replaces a variable of the adapter's template and stands for any labels.
      if (!labels || labels->contains("le") || labels->contains("grouped")) return;
      const std::string name = bucket_in(buckets);
      if (name.empty()) return;  // native histograms need no label
      s.report_span(
          query.span_of(buckets.span),
          fmt::format("the aggregation of {} drops the label le, so histogram_quantile finds no buckets", name));
    });
  });
}

}  // namespace
}  // namespace quantile_without_le

extern const Rule rule_quantile_without_le;
const Rule rule_quantile_without_le = {
    .id = "quantile-without-le",
    .severity = Severity::error,
    .kinds = "@scaler PrometheusRule @adapter",
    .title = "a quantile is computed from buckets without their label le",
    .why =
        "The label le is the upper bound of a bucket. Without it histogram_quantile returns nothing. The autoscaler "
        "gets no signal, and an alert never fires.",
    .fix = "use sum by (le) (rate(..._bucket[2m]))",
    .source = "Prometheus documentation, histogram_quantile()",
    .bad = R"(apiVersion: keda.sh/v1alpha1
kind: ScaledObject
spec:
  scaleTargetRef: {name: a}
  minReplicaCount: 1
  maxReplicaCount: 4
  triggers:
    - type: prometheus
      metadata:
        query: |
          histogram_quantile(0.95, sum by (namespace) (
            rate(vllm:time_to_first_token_seconds_bucket{namespace="a"}[2m])))
        threshold: "1"
)",
    .good = R"(apiVersion: keda.sh/v1alpha1
kind: ScaledObject
spec:
  scaleTargetRef: {name: a}
  minReplicaCount: 1
  maxReplicaCount: 4
  triggers:
    - type: prometheus
      metadata:
        query: |
          histogram_quantile(0.95, sum by (le) (
            rate(vllm:time_to_first_token_seconds_bucket{namespace="a"}[2m])))
        threshold: "1"
)",
    .check = quantile_without_le::check,
};

}  // namespace capstan::lint
