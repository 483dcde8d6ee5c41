#include <fmt/format.h>

#include "lint/adapter.h"
#include "lint/query.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace percent_unit_mismatch {
namespace {

/// Is the query a share as it is, or a mean or maximum of shares?
bool is_share(const Query& query, bool averaged) {
  const promql::Expression& inner = without_guard(*query.root());
  const promql::Selector* selector = std::get_if<promql::Selector>(&inner.node);
  if (const auto* outer = std::get_if<promql::Aggregation>(&inner.node)) {
    using Op = promql::Aggregation::Op;
    const bool keeps =
        outer->op == Op::max || outer->op == Op::avg || outer->op == Op::min || (outer->op == Op::sum && averaged);
    if (keeps) selector = std::get_if<promql::Selector>(&outer->of->node);
  }
  return selector != nullptr && is_ratio_metric(selector->metric);
}

void check(const Subject& s) {
  for (const ScalingSignal& signal : signals_of(s.object)) {
    const auto target = signal.target->number();
    if (!target || *target < 2 || !signal.metric->is_scalar()) continue;
    bool share = false;
    if (signal.is_query()) {
      const Query query(*s.object.file, *signal.metric);
      share = query.root() != nullptr && is_share(query, signal.averaged);
    } else {
      share = signal.averaged && is_ratio_metric(signal.metric->text) &&
              !is_given_by_adapter(s.set, s.object, signal.metric->text);
    }
    if (!share) continue;
    s.report(*signal.target,
             fmt::format("{} of a share that is 1 at most: nothing ever scales up", signal.target->text))
        .replace(*signal.target, fmt::format("{:g}", *target / 100));
  }
}

}  // namespace
}  // namespace percent_unit_mismatch

extern const Rule rule_percent_unit_mismatch;
const Rule rule_percent_unit_mismatch = {
    .id = "percent-unit-mismatch",
    .severity = Severity::error,
    .kinds = "@scaler",
    .title = "a share between 0 and 1 is held against a percentage",
    .why = "It never gets there: however full the cache is, nothing scales up. The name says _perc and means a share.",
    .fix = "divide the target by 100",
    .fix_safety = FixSafety::unsafe,
    .source = "vLLM metrics; aibrix samples hold 50 against the same gauge",
    .bad = R"(apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
spec:
  scaleTargetRef: {kind: Deployment, name: a}
  minReplicas: 2
  maxReplicas: 4
  metrics:
    - type: Pods
      pods: {metric: {name: vllm_kv_cache_usage_perc}, target: {type: AverageValue, averageValue: "80"}}
)",
    .good = R"(apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
spec:
  scaleTargetRef: {kind: Deployment, name: a}
  minReplicas: 2
  maxReplicas: 4
  metrics:
    - type: Pods
      pods: {metric: {name: vllm_kv_cache_usage_perc}, target: {type: AverageValue, averageValue: "0.8"}}
)",
    .check = percent_unit_mismatch::check,
};

}  // namespace capstan::lint
