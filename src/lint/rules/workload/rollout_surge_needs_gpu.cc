#include <fmt/format.h>

#include <charconv>

#include "lint/pods.h"
#include "lint/pools.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace rollout_surge_needs_gpu {
namespace {

/// Returns true if a rollout may delete an old replica before the new one is ready: maxUnavailable is at least 1. The
/// default is 25 %, rounded down.
bool may_delete_first(const Value& unavailable, std::int64_t replicas) {
  constexpr std::int64_t kDefaultPercent = 25;
  std::int64_t percent = kDefaultPercent;
  if (const auto count = unavailable.integer()) return *count > 0;
  if (unavailable) std::from_chars(unavailable.text.data(), unavailable.text.data() + unavailable.text.size(), percent);
  return replicas * percent / 100 >= 1;
}

void check(const Subject& s) {
  const Value& strategy = s.object["spec"]["strategy"];
  const Value& surge = at(strategy, "rollingUpdate.maxSurge");
  if (strategy["type"].is("Recreate") || surge.is("0") || surge.is("0%")) return;
  std::int64_t limit = 0;
  const Object* last = nullptr;
  for (const Object* object : s.set.in_folder("NodePool", s.object)) {
    const std::optional<Pool> pool = gpu_pool_of(*object);
    if (!pool) continue;
    const auto gpus = (*pool->limits)["nvidia.com/gpu"].integer();
    if (!gpus) return;
    limit += *gpus;
    last = object;
  }
  const std::int64_t replicas = s.object["spec"]["replicas"].integer().value_or(1);
  if (may_delete_first(at(strategy, "rollingUpdate.maxUnavailable"), replicas)) return;
  for (const Pod& pod : pods_of(s.object)) {
    const std::int64_t gpus = gpus_of(pod);
    if (gpus == 0 || limit == 0 || replicas * gpus > limit || (replicas + 1) * gpus <= limit) continue;
    s.require_object(
        s.report_object(fmt::format("{} replicas use {} of {} GPUs, and a rollout starts one more replica first",
                                    replicas, replicas * gpus, limit)),
        *last);
  }
}

}  // namespace
}  // namespace rollout_surge_needs_gpu

extern const Rule rule_rollout_surge_needs_gpu;
const Rule rule_rollout_surge_needs_gpu = {
    .id = "rollout-surge-needs-gpu",
    .severity = Severity::warning,
    .kinds = "Deployment",
    .title = "a rollout needs more GPUs than the pools may have",
    .why =
        "maxSurge starts a new replica before an old one ends. If all GPUs of the limit are in use, the new replica "
        "stays pending and the rollout is stuck. With four or more replicas the default maxUnavailable of 25 % lets a "
        "rollout delete an old replica first.",
    .fix = "set rollingUpdate to maxSurge 0 and maxUnavailable 1",
    .source = "KServe documentation, rollout strategy",
    .bad = R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpu}
spec: {limits: {nvidia.com/gpu: 2}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: a}
spec:
  replicas: 2
  selector: {matchLabels: {a: b}}
  template: {spec: {containers: [{name: a, image: "a:1", resources: {limits: {nvidia.com/gpu: 1}}}]}}
)",
    .good = R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpu}
spec: {limits: {nvidia.com/gpu: 2}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: a}
spec:
  replicas: 2
  strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 1}}
  selector: {matchLabels: {a: b}}
  template: {spec: {containers: [{name: a, image: "a:1", resources: {limits: {nvidia.com/gpu: 1}}}]}}
)",
    .check = rollout_surge_needs_gpu::check,
};

}  // namespace capstan::lint
