#include <fmt/format.h>

#include <set>

#include "lint/facts.h"
#include "lint/query.h"
#include "lint/rule.h"
#include "lint/scalers.h"

namespace capstan::lint {
namespace raw_counter_as_signal {
namespace {

/// Returns true for a counter of a known engine. Other metrics that end in `_total` may be gauges, such as a total
/// number of jobs.
bool is_counter(std::string_view name) {
  const KnownMetric* known = known_metric(name);
  return known != nullptr && known->type == "counter";
}

/// Returns the metrics of the selectors in an expression: of the selectors with an offset if `with_offset` is true,
/// otherwise of the selectors without one.
std::set<std::string_view> metrics_of(const promql::Expression& expression, bool with_offset) {
  std::set<std::string_view> names;
  promql::walk(expression, [&](const promql::Expression& part) {
    const auto* selector = std::get_if<promql::Selector>(&part.node);
    if (selector != nullptr && (selector->shift.offset.count() != 0) == with_offset) names.insert(selector->metric);
  });
  return names;
}

/// Returns true for `x - x offset 5m`, which is the growth of a counter.
bool is_growth(const promql::Expression& expression) {
  const auto* node = std::get_if<promql::Binary>(&expression.node);
  if (node == nullptr || node->op != promql::Binary::Op::subtract) return false;
  const std::set<std::string_view> now = metrics_of(*node->left, false);
  return !now.empty() && now == metrics_of(*node->right, true);
}

/// Returns true for `started - finished`: the difference of two counters may be the requests in flight.
bool is_difference(const promql::Expression& expression) {
  bool found = false;
  promql::walk(expression, [&](const promql::Expression& part) {
    const auto* node = std::get_if<promql::Binary>(&part.node);
    found = found || (node != nullptr && node->op == promql::Binary::Op::subtract &&
                      !metrics_of(*node->left, false).empty() && !metrics_of(*node->right, false).empty());
  });
  return found;
}

/// Visits the instant selectors whose values affect the result. Aggregations that only count series are skipped.
void walk_values(const promql::Expression& expression,
                 const std::function<void(const promql::Selector&, const promql::Expression&)>& visit) {
  if (const auto* selector = std::get_if<promql::Selector>(&expression.node)) {
    if (!selector->range) visit(*selector, expression);
    return;
  }
  if (is_growth(expression)) return;
  if (std::holds_alternative<promql::Subquery>(expression.node)) return;
  const auto* aggregation = std::get_if<promql::Aggregation>(&expression.node);
  if (aggregation != nullptr &&
      (aggregation->op == promql::Aggregation::Op::count || aggregation->op == promql::Aggregation::Op::group))
    return;
  for (const promql::Expression* child : promql::children(expression)) walk_values(*child, visit);
}

void check(const Subject& s) {
  for_each_query(s.queries(), [&](const ScalingSignal& signal, const Query& query) {
    if (signal.metric->key == "seriesQuery") return;  // it selects series and does not use their values
    walk_values(*query.root(), [&](const promql::Selector& selector, const promql::Expression& expression) {
      if (!is_counter(selector.metric)) return;
      Finding& finding = s.report_span(query.span_of(expression.span),
                                       fmt::format("{} is a counter, which only grows", selector.metric));
      // An adapter may provide the metric for other uses than scaling.
      if (!is_scaler(s.object.kind) || is_difference(*query.root())) finding.set_severity(Severity::info);
    });
  });
}

}  // namespace
}  // namespace raw_counter_as_signal

extern const Rule rule_raw_counter_as_signal;
const Rule rule_raw_counter_as_signal = {
    .id = "raw-counter-as-signal",
    .severity = Severity::warning,
    .kinds = "@scaler @adapter",
    .title = "a counter is used without rate()",
    .why =
        "A counter only grows. The replicas follow the uptime of the process up to the maximum and never scale down. "
        "The finding is advice for the rules of an adapter, and for a difference of two counters.",
    .fix = "use rate() over two minutes",
    .source = "Prometheus documentation, metric types",
    .bad = R"(apiVersion: keda.sh/v1alpha1
kind: ScaledObject
spec:
  scaleTargetRef: {name: a}
  minReplicaCount: 1
  maxReplicaCount: 4
  triggers:
    - {type: prometheus, metadata: {query: 'sum(vllm:prompt_tokens_total{namespace="a"})', threshold: "5000"}}
)",
    .good = R"(apiVersion: keda.sh/v1alpha1
kind: ScaledObject
spec:
  scaleTargetRef: {name: a}
  minReplicaCount: 1
  maxReplicaCount: 4
  triggers:
    - type: prometheus
      metadata: {query: 'sum(rate(vllm:prompt_tokens_total{namespace="a"}[2m]))', threshold: "5000"}
)",
    .check = raw_counter_as_signal::check,
};

}  // namespace capstan::lint
