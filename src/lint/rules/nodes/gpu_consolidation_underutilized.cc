#include <fmt/format.h>

#include <algorithm>

#include "lint/pods.h"
#include "lint/pools.h"
#include "lint/rule.h"
#include "lint/serving.h"

namespace capstan::lint {
namespace gpu_consolidation_underutilized {
namespace {

/// Returns true if a budget forbids the disruption of underutilized nodes at all times.
bool forbids_consolidation(const Value& budgets) {
  return std::ranges::any_of(budgets.children(), [](const Value& budget) {
    if (!budget["nodes"].is("0") && !budget["nodes"].is("0%")) return false;
    if (budget["schedule"]) return false;
    const Value& reasons = budget["reasons"];
    return !reasons || std::ranges::any_of(reasons.children(), [](const Value& v) { return v.is("Underutilized"); });
  });
}

/// Returns true if the folder has GPU pods and all of them have do-not-disrupt.
bool are_pods_protected(const Subject& s) {
  bool has_any = false;
  for (const std::string_view kind : {"Deployment", "StatefulSet", "LeaderWorkerSet"}) {
    for (const Object* workload : s.set.in_folder(kind, s.object)) {
      for (const Pod& pod : pods_of(*workload)) {
        if (!wants_gpu(pod)) continue;
        if (!(*pod.metadata)["annotations"]["karpenter.sh/do-not-disrupt"].is("true")) return false;
        has_any = true;
      }
    }
  }
  return has_any;
}

/// Adds the edits that set WhenEmpty. They also set consolidateAfter if it is missing or so short that an empty node is
/// terminated between two bursts.
void add_edits(Finding& finding, const Value& disruption) {
  const Value& policy = disruption["consolidationPolicy"];
  const Value& after = disruption["consolidateAfter"];
  finding.replace(policy, "WhenEmpty");
  if (finding.fix.edits.empty()) return;
  const std::optional<std::int64_t> seconds = seconds_of(after.text);
  if (!after) {
    finding.add_entry(disruption, policy, "consolidateAfter", kSafeEmptyWait);
  } else if (seconds && *seconds < kMinEmptyWaitS) {
    finding.replace(after, kSafeEmptyWait);
  }
}

/// Returns true if the pool waits so long before a consolidation that it rarely ends a replica.
bool waits_long(const Value& disruption) {
  constexpr std::int64_t kLongS = 3600;
  return seconds_of(disruption["consolidateAfter"].text).value_or(0) >= kLongS;
}

/// Returns true if all nodes of the pool are spot nodes. Its pods are interrupted anyway.
bool has_only_spot_nodes(const Pool& pool) {
  return allows_spot(pool) && requirement(pool, "capacity-type")["values"].count == 1;
}

/// Returns true if the pool has one instance type with one GPU. No other node of the pool is cheaper or has room.
bool has_single_gpu_type(const Pool& pool) {
  const std::vector<std::string> types = instance_types_of(pool);
  return types.size() == 1 && gpus_of_instance(types.front()) == 1;
}

void check_provisioner(const Subject& s, const Pool& pool) {
  const Value& enabled = at(*pool.spec, "consolidation.enabled");
  if (!enabled.is("true")) return;
  Finding& finding = s.report(enabled, "consolidation moves running GPU pods to cheaper nodes, so their requests fail");
  finding.replace(enabled, "false");
  if (!is_for_serving(pool, s.set)) finding.set_severity(Severity::info);
}

void check(const Subject& s) {
  const std::optional<Pool> pool = gpu_pool_of(s.object);
  if (!pool || (*pool->spec)["replicas"] || !(*pool->spec)) return;
  if (s.object.kind == "Provisioner") return check_provisioner(s, *pool);
  const Value& disruption = (*pool->spec)["disruption"];
  const Value& policy = disruption["consolidationPolicy"];
  if (policy.is("WhenEmpty") || disruption["consolidateAfter"].is("Never") ||
      forbids_consolidation(disruption["budgets"]))
    return;
  if (!policy && s.object.name.empty()) return;  // a pool without a name is partial
  const bool old_name = policy.is("WhenUnderutilized");
  if (old_name && s.object.version == "v1") return;  // pool-disruption-invalid reports it
  if (policy && !old_name && !policy.is("WhenEmptyOrUnderutilized") && !policy.is("Balanced")) return;
  Finding& finding =
      policy ? s.report(policy, fmt::format("{} ends running replicas in GPU pool {} to save nodes", policy.text,
                                            s.object.name))
             : s.report_object(fmt::format(
                   "GPU pool {} has no consolidationPolicy, which means {}, so running replicas are "
                   "ended to save nodes",
                   s.object.name, s.object.version == "v1" ? "WhenEmptyOrUnderutilized" : "WhenUnderutilized"));
  add_edits(finding, disruption);
  const bool may_interrupt = is_marked_interruptible(*pool) && !has_gpu_workload(*pool, s.set);
  const bool is_mild = policy.is("Balanced") || are_pods_protected(s) || waits_long(disruption) || may_interrupt;
  if (is_mild || has_only_spot_nodes(*pool) || has_single_gpu_type(*pool) || !is_for_serving(*pool, s.set))
    finding.set_severity(Severity::info);
  if (!policy) finding.mark_absence();
}

}  // namespace
}  // namespace gpu_consolidation_underutilized

extern const Rule rule_gpu_consolidation_underutilized;
const Rule rule_gpu_consolidation_underutilized = {
    .id = "gpu-consolidation-underutilized",
    .severity = Severity::warning,
    .kinds = "@pool",
    .title = "the nodes of a GPU pool are terminated while they serve",
    .why =
        "WhenEmptyOrUnderutilized, which is also the default, ends running replicas and moves them to cheaper nodes. "
        "Their requests fail, and each move is a cold start of minutes that costs more than it saves. The finding is "
        "advice if nothing in the input shows that the nodes serve requests, if the pods have do-not-disrupt, for a "
        "pool that consolidates only after an hour or uses spot nodes alone, and for one instance type with one GPU. "
        "It is "
        "also advice for a pool that allows spot nodes, or is marked as spot or batch, if the input has no workload "
        "of it.",
    .fix = "set consolidationPolicy to WhenEmpty, with a consolidateAfter of 10 min to 1 h",
    .fix_safety = FixSafety::unsafe,
    .source = "Karpenter documentation, disruption",
    .bad = R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpu-inference}
spec:
  limits: {nvidia.com/gpu: 8}
  disruption:
    consolidationPolicy: WhenEmptyOrUnderutilized
    consolidateAfter: 5m
)",
    .good = R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpu-inference}
spec:
  limits: {nvidia.com/gpu: 8}
  disruption:
    consolidationPolicy: WhenEmpty
    consolidateAfter: 1h
)",
    .check = gpu_consolidation_underutilized::check,
};

}  // namespace capstan::lint
