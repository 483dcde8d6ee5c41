#include <fmt/format.h>

#include <algorithm>

#include "base/split.h"
#include "lint/query.h"
#include "lint/rule.h"
#include "lint/scalers.h"

namespace capstan::lint {
namespace object_metric_value_no_average {
namespace {

bool counts_requests(std::string_view name) {
  for (const std::string_view word : {"waiting", "queue", "pending"}) {
    if (name.find(word) != name.npos) return true;
  }
  return false;
}

/// Returns true for the name of a mean, a quantile or a time, none of which adds up over the replicas.
bool is_not_additive(std::string_view name) {
  constexpr std::string_view kWords[] = {"avg",     "average", "mean", "max",     "min",  "ratio",   "time",
                                         "latency", "p50",     "p90",  "p95",     "p99",  "ms",      "us",
                                         "ns",      "seconds", "per",  "percent", "perc", "duration"};
  return std::ranges::any_of(
      split(name, '_'), [&](std::string_view word) { return std::ranges::find(kWords, word) != std::end(kWords); });
}

void report(const Subject& s, const ScalingSignal& signal, std::string_view name) {
  constexpr double kFewRequests = 5;
  Finding& finding =
      s.report(*signal.target,
               fmt::format("the total of {} is compared with {}, which is not per replica", name, signal.target->text));
  if (signal.target->number().value_or(kFewRequests + 1) > kFewRequests) finding.set_severity(Severity::info);
}

/// Checks a query under metricType Value: a sum over the replicas without further arithmetic.
void check_query(const Subject& s, const ScalingSignal& signal, const Query& query) {
  const auto* sum = std::get_if<promql::Aggregation>(&without_guard(*query.root()).node);
  if (sum == nullptr || sum->op != promql::Aggregation::Op::sum) return;
  const auto* selector = std::get_if<promql::Selector>(&without_guard(*sum->operand).node);
  if (selector == nullptr || !counts_requests(selector->metric) || is_not_additive(selector->metric)) return;
  report(s, signal, selector->metric);
}

void check(const Subject& s) {
  for (const auto& [signal, query] : s.queries().rows()) {
    if (signal.is_averaged || !*signal.target) continue;
    const std::string_view name = signal.metric->text;
    if (signal.source == SignalSource::object && counts_requests(name) && !is_not_additive(name))
      report(s, signal, name);
    if (signal.is_query() && query && query->root() != nullptr) check_query(s, signal, *query);
  }
}

}  // namespace
}  // namespace object_metric_value_no_average

extern const Rule rule_object_metric_value_no_average;
const Rule rule_object_metric_value_no_average = {
    .id = "object-metric-value-no-average",
    .severity = Severity::warning,
    .kinds = "HorizontalPodAutoscaler ScaledObject",
    .title = "the total of a queue is compared with a target that is not per replica",
    .why =
        "With type Value, in KEDA metricType: Value, the HPA multiplies the current replicas by the total divided by "
        "the target. A queue of 50 with a target of 1 asks for fifty times the replicas, not for 50. A target above 5 "
        "may be meant as the total, so the finding is then advice.",
    .fix = "use type AverageValue with the number of waiting requests per replica",
    .source = "vLLM production-stack hpa-10.yaml",
    .bad = R"(apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
spec:
  scaleTargetRef: {kind: Deployment, name: a}
  minReplicas: 1
  maxReplicas: 9
  metrics:
    - type: Object
      object:
        metric: {name: vllm_num_requests_waiting}
        describedObject: {kind: Service, name: vllm, apiVersion: v1}
        target: {type: Value, value: "1"}
  behavior: {scaleDown: {stabilizationWindowSeconds: 600}}
)",
    .good = R"(apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
spec:
  scaleTargetRef: {kind: Deployment, name: a}
  minReplicas: 1
  maxReplicas: 9
  metrics:
    - type: Object
      object:
        metric: {name: vllm_num_requests_waiting}
        describedObject: {kind: Service, name: vllm, apiVersion: v1}
        target: {type: AverageValue, averageValue: "5"}
  behavior: {scaleDown: {stabilizationWindowSeconds: 600}}
)",
    .check = object_metric_value_no_average::check,
};

}  // namespace capstan::lint
