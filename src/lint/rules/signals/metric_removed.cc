#include <fmt/format.h>

#include <algorithm>

#include "lint/adapter.h"
#include "lint/facts.h"
#include "lint/pods.h"
#include "lint/query.h"
#include "lint/rule.h"
#include "lint/scalers.h"

namespace capstan::lint {
namespace metric_removed {
namespace {

/// Returns true if the scaled workload runs a vLLM that still has the metric.
bool is_older(const Subject& s, const RemovedMetric& removed) {
  const std::optional<Scaler> scaler = scaler_of(s.object);
  const Object* target = scaler ? target_of(*scaler, s.set) : nullptr;
  const auto since = minor_of(removed.since);
  if (target == nullptr || !since) return false;
  for (const Pod& pod : pods_of(*target)) {
    for (const Value* container : containers_of(pod)) {
      const auto minor = vllm_minor_of((*container)["image"].text);
      if (minor && *minor < *since) return true;
    }
  }
  return false;
}

/// Returns true for metrics that the router of production-stack still computes from the answers of its engines.
bool is_kept_by_router(std::string_view name) {
  for (const std::string_view metric : {"vllm:gpu_prefix_cache_hit_rate", "vllm:gpu_prefix_cache_hits_total",
                                        "vllm:gpu_prefix_cache_queries_total", "vllm:num_requests_swapped"}) {
    if (name == metric) return true;
  }
  return false;
}

/// Returns true if the replacement is a metric's name and not an expression.
bool is_name(std::string_view instead) { return instead.find('(') == instead.npos; }

void check(const Subject& s) {
  for_each_metric_name(s.queries(), [&](const NameUse& use) {
    const RemovedMetric* removed = removed_metric(use.name);
    if (removed == nullptr || !use.name.starts_with("vllm") || is_older(s, *removed)) return;
    if (!use.signal->is_query() && is_served_by_adapter(s.set, s.object, use.name)) return;
    Finding& finding = s.report_span(
        use.span, fmt::format("{} was removed in {} ({}){}", use.name, removed->since, removed->source,
                              is_kept_by_router(use.name) ? "; only the router of production-stack still has it" : ""));
    if (is_kept_by_router(use.name)) {
      finding.set_severity(Severity::warning);
      return;
    }
    if (removed->instead.empty()) return;
    std::string instead(removed->instead);
    for (const std::string_view ending : {"_bucket", "_sum", "_count"}) {
      if (use.name.ends_with(ending)) instead += ending;
    }
    if (use.name[4] == '_') std::ranges::replace(instead, ':', '_');
    finding.suggest(instead);
    if (!is_name(instead) || use.span.size() != use.name.size()) return;
    finding.replace_part(*use.signal->metric, use.span, instead);
    // If the signal is not a query, its name comes from an adapter, which may still provide the old name.
    if (!use.signal->is_query()) finding.mark_unsafe();
  });
}

}  // namespace
}  // namespace metric_removed

extern const Rule rule_metric_removed;
const Rule rule_metric_removed = {
    .id = "metric-removed",
    .severity = Severity::error,
    .kinds = "@scaler PrometheusRule @adapter",
    .title = "the engine no longer has this metric",
    .why =
        "The query returns nothing. The autoscaler then keeps the replicas, or takes the missing value for zero and "
        "scales down. An alert on the metric never fires.",
    .fix = "use the metric that replaces it",
    .fix_safety = FixSafety::safe,
    .source = "vLLM pull requests 29330, 32661, 15458",
    .bad = R"(apiVersion: keda.sh/v1alpha1
kind: ScaledObject
spec:
  scaleTargetRef: {name: a}
  minReplicaCount: 1
  maxReplicaCount: 4
  triggers:
    - type: prometheus
      metadata:
        query: sum(vllm:gpu_cache_usage_perc{namespace="a"})
        threshold: "0.8"
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
        query: sum(vllm:kv_cache_usage_perc{namespace="a"})
        threshold: "0.8"
)",
    .check = metric_removed::check,
};

}  // namespace capstan::lint
