#include <fmt/format.h>

#include <algorithm>

#include "lint/pods.h"
#include "lint/pools.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace gpu_consolidation_underutilized {
namespace {

constexpr std::string_view kWait = "1h";
constexpr std::int64_t kLeastWaitS = 900;

/// A budget that never lets an underutilized node go.
bool is_barred(const Value& budgets) {
  return std::ranges::any_of(budgets.children(), [](const Value& budget) {
    if (!budget["nodes"].is("0") && !budget["nodes"].is("0%")) return false;
    if (budget["schedule"]) return false;
    const Value& reasons = budget["reasons"];
    return !reasons || std::ranges::any_of(reasons.children(), [](const Value& v) { return v.is("Underutilized"); });
  });
}

/// Do all pods on GPUs of the folder say that they must not be moved?
bool pods_are_kept(const Subject& s) {
  bool any = false;
  for (const std::string_view kind : {"Deployment", "StatefulSet", "LeaderWorkerSet"}) {
    for (const Object* workload : s.set.beside(kind, s.object)) {
      for (const Pod& pod : pods_of(*workload)) {
        if (!wants_gpu(pod)) continue;
        if (!(*pod.metadata)["annotations"]["karpenter.sh/do-not-disrupt"]) return false;
        any = true;
      }
    }
  }
  return any;
}

/// With a policy of WhenEmpty the wait of an empty node counts: one of minutes gives it back between two bursts.
void mend(Finding& finding, const Value& disruption) {
  const Value& policy = disruption["consolidationPolicy"];
  const Value& after = disruption["consolidateAfter"];
  finding.replace(policy, "WhenEmpty");
  if (finding.fix.edits.empty()) return;
  const std::optional<std::int64_t> seconds = seconds_of(after.text);
  if (!after) {
    finding.add_entry(disruption, policy, "consolidateAfter", kWait);
  } else if (seconds && *seconds < kLeastWaitS) {
    finding.replace(after, kWait);
  }
}

void check_provisioner(const Subject& s, const Pool& pool) {
  const Value& enabled = at(*pool.spec, "consolidation.enabled");
  if (enabled.is("true")) {
    s.report(enabled, "consolidation moves running GPU pods to cheaper nodes: their requests fail")
        .replace(enabled, "false");
  }
}

void check(const Subject& s) {
  const std::optional<Pool> pool = gpu_pool_of(s.object);
  if (!pool || (*pool->spec)["replicas"] || !(*pool->spec)) return;
  if (s.object.kind == "Provisioner") return check_provisioner(s, *pool);
  const Value& disruption = (*pool->spec)["disruption"];
  const Value& policy = disruption["consolidationPolicy"];
  if (policy.is("WhenEmpty") || disruption["consolidateAfter"].is("Never") || is_barred(disruption["budgets"])) return;
  if (!policy && s.object.name.empty()) return;  // a piece of a pool
  const bool old_name = policy.is("WhenUnderutilized");
  if (policy && !old_name && !policy.is("WhenEmptyOrUnderutilized") && !policy.is("Balanced")) return;
  const bool milder = policy.is("Balanced") || pods_are_kept(s);
  Finding& finding =
      policy ? s.report(policy, fmt::format("{} ends running replicas of GPU pool {} to save on nodes", policy.text,
                                            s.object.name))
             : s.report_object(fmt::format(
                   "GPU pool {} has no consolidationPolicy, which means {}: running replicas are "
                   "ended to save on nodes",
                   s.object.name, s.object.version == "v1" ? "WhenEmptyOrUnderutilized" : "WhenUnderutilized"));
  mend(finding, disruption);
  if (milder) finding.as(Severity::warning);
  if (!policy) finding.of_absence();
}

}  // namespace
}  // namespace gpu_consolidation_underutilized

extern const Rule rule_gpu_consolidation_underutilized;
const Rule rule_gpu_consolidation_underutilized = {
    .id = "gpu-consolidation-underutilized",
    .severity = Severity::error,
    .kinds = "@pool",
    .title = "a GPU pool's nodes are taken away while they serve",
    .why =
        "WhenEmptyOrUnderutilized, which is also the default, ends running replicas to move them to cheaper nodes: "
        "their requests fail, and each move is a cold start of minutes that costs more than it saves.",
    .fix = "set consolidationPolicy to WhenEmpty, with a consolidateAfter of 15 min to 1 h",
    .fix_safety = FixSafety::unsafe,
    .source = "Karpenter documentation, disruption",
    .bad = R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpu}
spec:
  limits: {nvidia.com/gpu: 8}
  disruption:
    consolidationPolicy: WhenEmptyOrUnderutilized
    consolidateAfter: 5m
)",
    .good = R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpu}
spec:
  limits: {nvidia.com/gpu: 8}
  disruption:
    consolidationPolicy: WhenEmpty
    consolidateAfter: 1h
)",
    .check = gpu_consolidation_underutilized::check,
};

}  // namespace capstan::lint
