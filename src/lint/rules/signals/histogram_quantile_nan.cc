#include "lint/query.h"
#include "lint/rule.h"
#include "promql/function.h"

namespace capstan::lint {
namespace histogram_quantile_nan {
namespace {

/// Returns true if a quantile reaches the result without an operation that removes NaN.
bool is_unguarded(const promql::Expression& expression) {
  if (const auto* node = std::get_if<promql::Binary>(&expression.node)) {
    if (promql::is_comparison(node->op) || promql::is_set_operator(node->op)) return false;
    return is_unguarded(*node->left) || is_unguarded(*node->right);
  }
  if (const auto* call = std::get_if<promql::Call>(&expression.node)) {
    if (call->function->name == "histogram_quantile") return true;
    if (call->function->name == "clamp_min" || call->function->name == "clamp_max") return false;
  }
  for (const promql::Expression* child : promql::children(expression)) {
    if (is_unguarded(*child)) return true;
  }
  return false;
}

void check(const Subject& s) {
  for_each_query(s.queries(), [&](const ScalingSignal& signal, const Query& query) {
    if (!is_unguarded(*query.root())) return;
    const bool fails = (*signal.block)["metadata"]["ignoreNullValues"].is("false");
    Finding& finding =
        s.report_span(query.span_of(query.root()->span),
                      fails ? "the result is NaN if the window has no requests, which KEDA takes for a "
                              "failure because ignoreNullValues is false"
                            : "the result is NaN if the window has no requests, and KEDA reads NaN as 0");
    if (!fails) finding.set_severity(Severity::info);
  });
}

}  // namespace
}  // namespace histogram_quantile_nan

extern const Rule rule_histogram_quantile_nan;
const Rule rule_histogram_quantile_nan = {
    .id = "histogram-quantile-nan",
    .severity = Severity::warning,
    .kinds = "ScaledObject",
    .title = "a quantile without requests is NaN",
    .why =
        "Without requests in the window histogram_quantile returns NaN. With ignoreNullValues \"false\" KEDA takes it "
        "for a failure of the query and keeps the replicas, or applies the fallback. By default KEDA reads NaN as 0, "
        "so a fleet whose requests all hang scales down; the finding is then advice.",
    .fix = "use (histogram_quantile(...) > 0) or vector(0)",
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
          histogram_quantile(0.95, sum by (le) (
            rate(vllm:time_to_first_token_seconds_bucket{namespace="a"}[2m])))
        threshold: "1"
        ignoreNullValues: "false"
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
          (histogram_quantile(0.95, sum by (le) (
            rate(vllm:time_to_first_token_seconds_bucket{namespace="a"}[2m]))) > 0) or vector(0)
        threshold: "1"
        ignoreNullValues: "false"
)",
    .check = histogram_quantile_nan::check,
};

}  // namespace capstan::lint
