#include <fmt/format.h>

#include "lint/adapter.h"
#include "lint/query.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace percent_unit_mismatch {
namespace {

/// Returns true if the query is a ratio, or an aggregation whose value for each replica stays between 0 and 1, such as
/// a mean of ratios.
bool is_ratio(const Query& query, bool is_averaged) {
  const promql::Expression& inner = without_guard(*query.root());
  const promql::Selector* selector = std::get_if<promql::Selector>(&inner.node);
  if (const auto* outer = std::get_if<promql::Aggregation>(&inner.node)) {
    using Op = promql::Aggregation::Op;
    const bool keeps_range =
        outer->op == Op::max || outer->op == Op::avg || outer->op == Op::min || (outer->op == Op::sum && is_averaged);
    if (keeps_range) selector = std::get_if<promql::Selector>(&outer->operand->node);
  }
  return selector != nullptr && is_ratio_metric(selector->metric);
}

void check(const Subject& s) {
  for (const ScalingSignal& signal : signals_of(s.object)) {
    const auto target = signal.target->number();
    if (!target || *target < 2 || !signal.metric->is_scalar()) continue;
    bool has_ratio = false;
    if (signal.is_query()) {
      const Query query(*s.object.file, *signal.metric);
      has_ratio = query.root() != nullptr && is_ratio(query, signal.is_averaged);
    } else {
      has_ratio = signal.is_averaged && is_ratio_metric(signal.metric->text) &&
                  !is_served_by_adapter(s.set, s.object, signal.metric->text);
    }
    if (!has_ratio) continue;
    Finding& finding = s.report(
        *signal.target,
        fmt::format("the target {} is never reached, because the ratio is at most 1, so the workload never scales up",
                    signal.target->text));
    finding.replace(*signal.target, fmt::format("{:g}", *target / 100));
    // A rule of an adapter, which the input lacks, may multiply the metric by 100.
    if (s.object.kind == "HorizontalPodAutoscaler") finding.set_severity(Severity::warning);
  }
}

}  // namespace
}  // namespace percent_unit_mismatch

extern const Rule rule_percent_unit_mismatch;
const Rule rule_percent_unit_mismatch = {
    .id = "percent-unit-mismatch",
    .severity = Severity::error,
    .kinds = "@scaler",
    .title = "a ratio between 0 and 1 is compared with a percentage",
    .why =
        "The ratio never reaches the target, so the workload never scales up, even with a full cache. The ending _perc "
        "means a ratio here. For an HPA the finding is a warning, because a rule of an adapter may multiply the "
        "metric.",
    .fix = "divide the target by 100",
    .fix_safety = FixSafety::unsafe,
    .source = "vLLM metrics; aibrix samples compare the same gauge with 50",
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
