#include <fmt/format.h>

#include <algorithm>

#include "lint/adapter.h"
#include "lint/contains.h"
#include "lint/facts.h"
#include "lint/pods.h"
#include "lint/query.h"
#include "lint/rule.h"
#include "lint/scalers.h"

namespace capstan::lint {
namespace metric_removed {
namespace {

/// The versions of vLLM that visible workloads run, compared with the version that removed a metric.
struct Versions {
  bool has_older = false;          ///< true if a workload runs a version that still has the metric
  bool has_newer = false;          ///< true if a workload runs a version without it, or a tag for the newest version
  bool has_version = false;        ///< true if a workload states the number of a version without the metric
  bool is_target_unknown = false;  ///< true if the input lacks the scaled workload
};

/// Returns true for vLLM's own image with a tag that always stands for the newest version.
bool is_newest_vllm(std::string_view image) {
  if (!image.ends_with("/vllm-openai") && image.find("/vllm-openai:") == image.npos) return false;
  return image.ends_with("/vllm-openai") || image.ends_with(":latest") || image.ends_with(":nightly");
}

/// Returns the minor version of vLLM in a container; none if it runs another engine or its version is unknown. A tag
/// such as ":v0.11.0" of any image counts if the name of the container contains "vllm".
std::optional<std::uint32_t> vllm_minor_of_container(const Value& container) {
  const std::string_view image = container["image"].text;
  return contains(container["name"].text, "vllm") ? minor_of_tag(image) : vllm_minor_of(image);
}

void add_versions(const Object& workload, std::uint32_t since, Versions& versions) {
  for (const Pod& pod : pods_of(workload)) {
    for (const Value* container : containers_of(pod)) {
      const std::string_view image = (*container)["image"].text;
      const auto minor = vllm_minor_of_container(*container);
      versions.has_older = versions.has_older || (minor && *minor < since);
      versions.has_version = versions.has_version || (minor && *minor >= since);
      versions.has_newer = versions.has_newer || versions.has_version || is_newest_vllm(image);
    }
  }
}

/// Returns the versions of the scaled workload. Rules of Prometheus and of its adapter name no workload, so all
/// workloads count for them.
Versions versions_for(const Subject& s, const RemovedMetric& removed) {
  Versions versions;
  const auto since = minor_of(removed.since);
  if (!since) return versions;
  const std::optional<Scaler> scaler = scaler_of(s.object);
  const Object* target = scaler ? target_of(*scaler, s.set) : nullptr;
  if (target != nullptr) {
    add_versions(*target, *since, versions);
    return versions;
  }
  versions.is_target_unknown = scaler && *scaler->target_name && !scaler->target_name->text.empty();
  for (const std::string_view kind : {"Deployment", "StatefulSet", "LeaderWorkerSet", "Rollout", "Pod"}) {
    for (const Object* workload : s.set.of_kind(kind)) add_versions(*workload, *since, versions);
  }
  return versions;
}

/// Returns true if KServe makes the scaled workload. The version of vLLM is then in a ServingRuntime of the cluster.
bool targets_kserve(const Subject& s) {
  const std::optional<Scaler> scaler = scaler_of(s.object);
  if (!scaler || scaler->target_kind != "Deployment" || !scaler->target_name->text.ends_with("-predictor"))
    return false;
  return target_of(*scaler, s.set) == nullptr;
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
    if (removed == nullptr || !use.name.starts_with("vllm")) return;
    const Versions versions = versions_for(s, *removed);
    if (versions.has_older && !versions.has_newer) return;
    if (!use.signal->is_query() && is_served_by_adapter(s.set, s.object, use.name)) return;
    Finding& finding = s.report_span(
        use.span, fmt::format("{} was removed in {} ({}){}", use.name, removed->since, removed->source,
                              is_kept_by_router(use.name) ? "; only the router of production-stack still has it" : ""));
    const bool is_certain = versions.has_version && !versions.is_target_unknown;
    if (is_kept_by_router(use.name) || !is_certain) finding.set_severity(Severity::warning);
    if (targets_kserve(s) || !versions.has_newer) finding.set_severity(Severity::info);
    if (is_kept_by_router(use.name)) return;
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
        "scales down. An alert on the metric never fires. The finding is an error if the version of the scaled vLLM no "
        "longer has "
        "the metric. It is a warning for the tag latest, or if the input lacks the target and another workload runs a "
        "newer version. It is advice if the input shows no version, and there is no finding if vLLM is older.",
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
