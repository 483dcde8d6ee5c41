#include <fmt/format.h>

#include <algorithm>

#include "lint/facts.h"
#include "lint/query.h"
#include "lint/rule.h"
#include "promql/function.h"

namespace capstan::lint {
namespace mean_under_averagevalue {
namespace {

using promql::Aggregation;
using promql::Call;

/// Returns true for a metric that counts pods or the desired replicas: from kube-state-metrics, from a gateway, or `up`
/// of Prometheus.
bool counts_pods(std::string_view name) {
  for (const std::string_view part : {"ready_pods", "ready_endpoints", "status_replicas", "status_ready_replicas",
                                      "kube_pod_", "kube_deployment_spec_replicas", "kube_statefulset_replicas"}) {
    if (name.find(part) != name.npos) return true;
  }
  return name == "up";
}

/// Returns true if every replica has its own series of the metric. Ratios are excluded, because another rule checks
/// them.
bool is_per_replica(const MetricUse& use) {
  const KnownMetric* known = known_metric(use.name);
  const bool is_fixed = use.matcher("pod") != nullptr || use.matcher("instance") != nullptr;
  return known != nullptr && !known->is_of_router() && !known->is_ratio() && !is_fixed;
}

bool is_per_replica(const Query& query) {
  const std::vector<MetricUse> uses = query.metrics();
  const auto is_part = [](const MetricUse& use) { return is_per_replica(use) || counts_pods(use.name); };
  return std::ranges::any_of(uses, [](const MetricUse& use) { return is_per_replica(use); }) &&
         std::ranges::all_of(uses, is_part);
}

/// Returns true for `count(x)`, `sum(kube_deployment_status_replicas_ready)`, or one of these inside a function such as
/// `clamp_min`.
bool counts_pods(const promql::Expression& expression) {
  const promql::Expression& inner = without_guard(expression);
  if (const auto* selector = std::get_if<promql::Selector>(&inner.node)) return counts_pods(selector->metric);
  if (const auto* node = std::get_if<Aggregation>(&inner.node)) {
    return node->op == Aggregation::Op::count || counts_pods(*node->operand);
  }
  const auto* call = std::get_if<Call>(&inner.node);
  return call != nullptr && !call->arguments.empty() && counts_pods(*call->arguments.front());
}

/// Describes a value that does not grow with the replicas; empty if it grows, or if that is unknown.
std::string_view constant_value(const promql::Expression& expression) {
  if (const auto* call = std::get_if<Call>(&expression.node)) {
    return call->function->name == "histogram_quantile" ? "a quantile" : std::string_view();
  }
  if (const auto* node = std::get_if<promql::Binary>(&expression.node)) {
    const bool divides = node->op == promql::Binary::Op::divide && counts_pods(*node->right);
    return divides ? "a value that is already divided by the pods" : std::string_view();
  }
  const auto* outer = std::get_if<Aggregation>(&expression.node);
  if (outer == nullptr || !outer->labels.empty() || outer->without || labels_of(*outer->operand)) return {};
  switch (outer->op) {
    case Aggregation::Op::avg:
      return "the mean";
    case Aggregation::Op::max:
      return "the maximum";
    default:
      return {};
  }
}

void check(const Subject& s) {
  constexpr std::int64_t kMinReplicas = 2;
  if (has_formula(s.object) || scaler_of(s.object)->max->integer().value_or(100) <= kMinReplicas) return;
  for_each_query(s.queries(), [&](const ScalingSignal& signal, const Query& query) {
    const auto threshold = signal.target->number();
    const promql::Expression& inner = *without_factor(*query.root()).expression;
    const std::string_view description = constant_value(inner);
    if (!signal.is_averaged || !threshold || *threshold <= 0 || description.empty() || !is_per_replica(query)) return;
    s.report_span(
        query.span_of(inner.span),
        fmt::format("{} does not grow with the replicas, but KEDA divides it by {}: at twice that value it asks for "
                    "2 replicas, whatever the current number is",
                    description, signal.target->text));
  });
}

}  // namespace
}  // namespace mean_under_averagevalue

extern const Rule rule_mean_under_averagevalue;
const Rule rule_mean_under_averagevalue = {
    .id = "mean-under-averagevalue",
    .severity = Severity::warning,
    .kinds = "ScaledObject",
    .title = "a value that does not grow with the replicas is divided by them",
    .why =
        "With metricType AverageValue, the default, KEDA asks for value / threshold replicas, which is correct for a "
        "total. A mean, a maximum, a quantile, or a total that the query divides by the ready pods does not grow with "
        "the replicas. Eight replicas with twice the target queue then become two.",
    .fix = "use sum() over the replicas; for a latency use metricType Value",
    .source = "KEDA documentation, metricType; Kubernetes HPA algorithm",
    .bad = R"(apiVersion: keda.sh/v1alpha1
kind: ScaledObject
spec:
  scaleTargetRef: {name: a}
  minReplicaCount: 1
  maxReplicaCount: 8
  triggers:
    - {type: prometheus, metadata: {query: 'avg(vllm:num_requests_waiting{namespace="a"})', threshold: "5"}}
)",
    .good = R"(apiVersion: keda.sh/v1alpha1
kind: ScaledObject
spec:
  scaleTargetRef: {name: a}
  minReplicaCount: 1
  maxReplicaCount: 8
  triggers:
    - {type: prometheus, metadata: {query: 'sum(vllm:num_requests_waiting{namespace="a"})', threshold: "5"}}
)",
    .check = mean_under_averagevalue::check,
};

}  // namespace capstan::lint
