#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>

#include "lint/facts.h"
#include "lint/query.h"
#include "lint/rule.h"
#include "lint/scalers.h"

namespace capstan::lint {
namespace keda_query_not_aggregated {
namespace {

/// Returns true if every replica exposes the metric.
bool is_per_replica(std::string_view name) {
  const KnownMetric* known = known_metric(name);
  return (known != nullptr && !known->is_of_router()) || name.starts_with("DCGM_");
}

bool is_of_router(std::string_view name) {
  const KnownMetric* known = known_metric(name);
  return known != nullptr && known->is_of_router();
}

/// Returns true if the selector limits the label to one value.
bool has_one_value(const MetricUse& use, std::string_view label) {
  const promql::LabelMatcher* matcher = use.matcher(label);
  return matcher != nullptr && matcher->op == promql::LabelMatcher::Op::equal;
}

/// Returns the first label of the result that no selector limits to one value; empty if the result is one series.
std::string label_of_series(const Query& query, const std::set<std::string>& labels) {
  const std::vector<MetricUse> uses = query.metrics();
  for (const std::string& label : labels) {
    const bool is_fixed = std::ranges::any_of(uses, [&](const MetricUse& use) { return has_one_value(use, label); });
    if (!is_fixed) return label;
  }
  return {};
}

/// Returns true for a metric that has several series even in one process, such as one for each code, method or path.
/// Returns false if the selector limits a label in which these series may differ. Other metrics may have one series in
/// the cluster.
bool has_many_series(const MetricUse& use) {
  constexpr std::string_view kMetrics[] = {"http_requests_total",
                                           "http_server_requests_total",
                                           "istio_requests_total",
                                           "nginx_ingress_controller_requests",
                                           "container_cpu_usage_seconds_total",
                                           "container_memory_working_set_bytes"};
  if (std::ranges::find(kMetrics, use.name) == std::end(kMetrics) && !use.name.ends_with("_bucket")) return false;
  return std::ranges::none_of(use.selector->matchers, [](const promql::LabelMatcher& matcher) {
    const std::string_view name = matcher.name;
    return matcher.op == promql::LabelMatcher::Op::equal && name != "namespace" && name != "job" && name != "__name__";
  });
}

/// Reports a result that has one value per series of its selectors.
void check_selectors(const Subject& s, const Query& query) {
  const std::vector<MetricUse> uses = query.metrics();
  for (const MetricUse& use : uses) {
    if (use.matcher("pod") != nullptr || use.matcher("instance") != nullptr || is_of_router(use.name)) continue;
    const bool is_certain = is_per_replica(use.name);
    // A recording rule has a name like `level:metric:operation` and usually aggregates.
    if (!is_certain && (use.name.empty() || use.name.find(':') != use.name.npos)) continue;
    Finding& finding =
        s.report_span(query.span_of(query.root()->span),
                      fmt::format("the query returns one value per series of {}, but KEDA accepts only one", use.name));
    if (!is_certain) finding.set_severity(has_many_series(use) ? Severity::warning : Severity::info);
    return;
  }
}

/// Returns true for a label whose values differ between replicas.
bool differs_by_replica(std::string_view label) {
  constexpr std::string_view kLabels[] = {"pod", "instance", "pod_name", "exported_pod", "kubernetes_pod_name",
                                          "gpu", "UUID",     "Hostname", "hostname",     "node"};
  return std::ranges::find(kLabels, label) != std::end(kLabels);
}

/// Returns true for `topk(1, ...)`, which returns one series.
bool selects_one(const promql::Expression& expression) {
  using Op = promql::Aggregation::Op;
  const auto* outer = std::get_if<promql::Aggregation>(&without_guard(expression).node);
  if (outer == nullptr || (outer->op != Op::topk && outer->op != Op::bottomk) || !outer->labels.empty()) return false;
  const auto* count = std::get_if<promql::Number>(&outer->parameter->node);
  return count != nullptr && count->value == 1;
}

/// Returns true if the workload never has two replicas, so that a metric of its replicas has one series.
bool has_one_replica(const Subject& s) {
  const std::optional<Scaler> scaler = scaler_of(s.object);
  return scaler && scaler->max->integer().value_or(2) <= 1;
}

void check(const Subject& s) {
  if (has_one_replica(s)) return;
  for_each_query(s.queries(), [&](const ScalingSignal&, const Query& query) {
    if (selects_one(*query.root())) return;
    const auto labels = labels_of(*query.root());
    if (!labels) return check_selectors(s, query);
    const std::string label = label_of_series(query, *labels);
    if (label.empty()) return;
    Finding& finding =
        s.report_span(query.span_of(query.root()->span),
                      fmt::format("the query returns one value per {}, but KEDA accepts only one", label));
    if (!differs_by_replica(label)) finding.set_severity(Severity::info);  // the label may have only one value
  });
}

}  // namespace
}  // namespace keda_query_not_aggregated

extern const Rule rule_keda_query_not_aggregated;
const Rule rule_keda_query_not_aggregated = {
    .id = "keda-query-not-aggregated",
    .severity = Severity::error,
    .kinds = "ScaledObject InferenceService",
    .title = "the query returns one value per replica",
    .why =
        "KEDA needs a single value and refuses several with \"returned multiple elements\". With two replicas scaling "
        "stops. For other metrics than those of engines the finding is a warning if the metric is known to have "
        "several "
        "series, and else advice.",
    .fix = "use sum(...)",
    .source = "KEDA documentation, prometheus scaler; production-stack's first example",
    .bad = R"(apiVersion: keda.sh/v1alpha1
kind: ScaledObject
spec:
  scaleTargetRef: {name: a}
  minReplicaCount: 1
  maxReplicaCount: 4
  triggers: [{type: prometheus, metadata: {query: 'vllm:num_requests_waiting{namespace="a"}', threshold: "5"}}]
)",
    .good = R"(apiVersion: keda.sh/v1alpha1
kind: ScaledObject
spec:
  scaleTargetRef: {name: a}
  minReplicaCount: 1
  maxReplicaCount: 4
  triggers:
    - {type: prometheus, metadata: {query: 'sum(vllm:num_requests_waiting{namespace="a"})', threshold: "5"}}
)",
    .check = keda_query_not_aggregated::check,
};

}  // namespace capstan::lint
