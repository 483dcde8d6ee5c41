#include "operator/snapshot/mixed_gangs.h"

#include "operator/snapshot/shared_gpus.h"
#include "operator/snapshot/waiting_gangs.h"
#include "operator/view/cluster_view.h"

namespace capstan::op {
namespace {

/// Returns true if pods with this spec may hold GPUs.
bool needs_gpus(const kube::PodSpec& pod) { return pod.has_resource_claims || gpus_of(pod.requests) > MilliGpu{}; }

}  // namespace

void MixedGangs::count(const kube::Pod& pod, const FleetPolicy& fleet, std::int64_t sign) {
  if (pod.over() || !places(fleet, pod.spec.scheduler)) return;
  const std::string gang = gang_key_of(pod);
  if (gang.empty()) return;
  const auto found = gangs_.try_emplace(pod.meta.ns + '\n' + gang).first;  // no namespace contains a line break
  Pods& pods = found->second;
  const bool was_mixed = pods.is_mixed();
  (needs_gpus(pod.spec) || SharedGpus::depends_on(pod) ? pods.with_gpus : pods.without) += sign;
  if (pods.is_mixed() && !was_mixed) ++mixed_;
  if (!pods.is_mixed() && was_mixed) --mixed_;
  if (pods.with_gpus == 0 && pods.without == 0) gangs_.erase(found);
}

void MixedGangs::read_templates(const kube::StoreSnapshot<kube::Workload>& leader_worker_sets,
                                const FleetPolicy& fleet) {
  has_template_ = false;
  leader_worker_sets.for_each([&](kube::RowId, const kube::Workload& set) {
    if (!set.leader || !places(fleet, set.pod.scheduler)) return;
    has_template_ = has_template_ || needs_gpus(*set.leader) != needs_gpus(set.pod);
  });
}

}  // namespace capstan::op
