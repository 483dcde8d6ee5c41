#include "operator/view/cluster_view.h"

#include <algorithm>
#include <iterator>

namespace capstan::op {
namespace {

constexpr std::int64_t kMaxMilliGpus = 10'000'000;  // most that a snapshot file holds for one pod or node
constexpr std::string_view kWatched[] = {"Deployment", "StatefulSet", "LeaderWorkerSet"};

}  // namespace

std::string target_key(std::string_view kind, std::string_view ns, std::string_view name) {
  return std::string(kind) + " " + kube::key_of(ns, name);
}

bool is_watched(std::string_view kind) { return std::ranges::find(kWatched, kind) != std::end(kWatched); }

MilliGpu gpus_of(const kube::Resources& resources) {
  MilliGpu sum;
  for (const auto& [name, milli] : resources.milli) {
    if (name.ends_with("/gpu"))
      sum.count = std::min(sum.count + std::clamp<std::int64_t>(milli, 0, kMaxMilliGpus), kMaxMilliGpus);
  }
  return sum;
}

Targets::Targets(const ClusterView& view) {
  const auto add = [&](std::string_view kind, const kube::StoreSnapshot<kube::Workload>& workloads) {
    workloads.for_each([&](kube::RowId, const kube::Workload& workload) {
      by_key_.emplace(target_key(kind, workload.meta.ns, workload.meta.name), &workload);
    });
  };
  add("Deployment", view.deployments);
  add("StatefulSet", view.stateful_sets);
  add("LeaderWorkerSet", view.leader_worker_sets);
  for (const ScaledTargets::Target& target : view.scaled->targets) {
    const kube::Workload& workload = target.workload;
    by_key_.emplace(target_key(workload.kind, workload.meta.ns, workload.meta.name), &workload);
  }
}

const kube::Workload* Targets::find(std::string_view ns, const kube::TargetRef& target) const {
  const auto found = by_key_.find(target_key(target.kind, ns, target.name));
  return found == by_key_.end() ? nullptr : found->second;
}

ScalersByUid scalers_by_uid(const ClusterView& view) {
  ScalersByUid scalers;
  view.scalers.for_each([&](kube::RowId, const InferenceScaler& scaler) { scalers[scaler.meta.uid] = &scaler; });
  return scalers;
}

const FleetPolicy& fleet_policy(const kube::StoreSnapshot<FleetPolicy>& fleet) {
  static const FleetPolicy kNone;
  const FleetPolicy* found = &kNone;
  fleet.for_each([&](kube::RowId, const FleetPolicy& policy) {
    if (policy.meta.name == "default") found = &policy;
  });
  return *found;
}

Mode fleet_mode(const ClusterView& view) { return fleet_policy(view.fleet).replicas; }
bool fleet_halted(const kube::StoreSnapshot<FleetPolicy>& fleet) { return fleet_policy(fleet).halt; }

}  // namespace capstan::op
