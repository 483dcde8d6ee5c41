#include <fmt/format.h>

#include <set>

#include "lint/facts.h"
#include "lint/query.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace raw_counter_as_signal {
namespace {

/// Returns true for a counter of a known engine. What others call `_total` may be a gauge: jobs in total.
bool is_counter(std::string_view name) {
  const KnownMetric* known = known_metric(name);
  return known != nullptr && known->type == "counter";
}

/// The metrics of an expression, of now or of some time before.
std::set<std::string_view> metrics_of(const promql::Expression& expression, bool before) {
  std::set<std::string_view> names;
  promql::walk(expression, [&](const promql::Expression& part) {
    const auto* selector = std::get_if<promql::Selector>(&part.node);
    if (selector != nullptr && (selector->shift.offset.count() != 0) == before) names.insert(selector->metric);
  });
  return names;
}

/// `x - x offset 5m` is how much a counter grew.
bool is_growth(const promql::Expression& expression) {
  const auto* node = std::get_if<promql::Binary>(&expression.node);
  if (node == nullptr || node->op != promql::Binary::Op::subtract) return false;
  const std::set<std::string_view> now = metrics_of(*node->left, false);
  return !now.empty() && now == metrics_of(*node->right, true);
}

/// The instant selectors whose values reach the result: how many there are does not.
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
  each_query(s.queries(), [&](const ScalingSignal& signal, const Query& query) {
    if (signal.metric->key == "seriesQuery") return;  // which series there are, not what is made of them
    walk_values(*query.root(), [&](const promql::Selector& selector, const promql::Expression& expression) {
      if (!is_counter(selector.metric)) return;
      s.report_span(query.span_of(expression.span), fmt::format("{} is a counter, which only grows", selector.metric));
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
    .title = "a counter is used as it is",
    .why = "It only grows: replicas follow the age of the process, up to the maximum, and never come back.",
    .fix = "rate() over two minutes",
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
