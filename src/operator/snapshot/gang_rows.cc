// The part of SnapshotBuilder that adds the rows of gangs, pods and other holders of GPUs.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "operator/snapshot/full_build.h"
#include "operator/snapshot/pod_node.h"

namespace capstan::op {
namespace {

/// The GPUs of a replica that asks for none, such as an emulator. Placement divides by the GPUs of a replica.
constexpr MilliGpu kLeastGpu{1};

}  // namespace

/// Reads the pods without a service that hold GPUs, and the gangs that wait for Capstan to place them.
void SnapshotBuilder::read_other_pods(FullBuild& build) {
  KeptReplicas::Owner owner;
  const auto add = [&](PodGroup group) {
    const model::GangId gang = add_gang(build, group, {}, Instant::never());
    owner.replicas.emplace_back(KeptReplicas::Replica{std::move(group), gang});
  };
  const GangSizes sizes = gang_sizes(build.view.kai_groups);
  for (const auto& [ns, pods] : build.pods_at_hand.by_namespace()) {
    std::vector<const kube::Pod*> ours;
    for (const kube::Pod* pod : pods) {
      const bool waits_for_claims = pod->spec.has_resource_claims && !pod->bound();
      if (build.taken.contains(pod) || (build.holders.of(*pod) == MilliGpu{} && !waits_for_claims)) continue;
      if (places(build.fleet, pod->spec.scheduler)) {
        ours.push_back(pod);
      } else if (pod->bound() || build.node_by_name.contains(node_held_by(*pod, build.fleet))) {
        add({.pods = {pod}, .expected = 1, .ordinal = 0, .name = pod->meta.key()});
      }
    }
    for (PodGroup& group : gangs_of(ours, sizes)) add(std::move(group));
  }
  build.replicas.add(std::move(owner));
}

/// Adds rows for the objects that hold GPUs and have no row as a pod, so that nothing else is placed on these GPUs:
/// first the objects that hold a known number, then the objects that may hold all that is left.
void SnapshotBuilder::read_other_holders(FullBuild& build) {
  if (build.holders.others().empty()) return;
  std::map<model::NodeId, MilliGpu> left;
  for (const auto& [id, node] : build.nodes) left[id] = node.gpus;
  for (const auto& [id, pod] : build.pods) {
    if (pod.node.valid()) left[pod.node] -= pod.gpus;
  }
  const auto add = [&](const GpuHolders::Other& other) {
    const auto node = build.node_by_name.find(other.node);
    if (node == build.node_by_name.end()) return;
    const MilliGpu gpus = std::min(other.gpus.value_or(left[node->second]), left[node->second]);
    if (gpus <= MilliGpu{}) return;
    left[node->second] -= gpus;
    add_holder(build, other, node->second, gpus);
  };
  for (const GpuHolders::Other& other : build.holders.others()) {
    if (other.gpus) add(other);
  }
  for (const GpuHolders::Other& other : build.holders.others()) {
    if (!other.gpus) add(other);
  }
}

/// Adds a gang of one pod for an object that holds GPUs of a node.
void SnapshotBuilder::add_holder(FullBuild& build, const GpuHolders::Other& holder, model::NodeId node, MilliGpu gpus) {
  const ObjectKey key = key_of(std::string("GPUs of ") + holder.kind, *holder.meta);
  const std::string shown = std::string(holder.kind) + " " + holder.meta->key();
  const model::GangId id = gangs_.id_of(key, shown);
  const model::PodId pod = pods_.id_of(key, shown);
  model::Gang gang;
  gang.phase = model::Gang::Phase::ready;
  gang.pods = {pod};
  gang.spec.pods = {.gpu = build.nodes.at(node).gpu, .count = 1, .gpus_per_pod = gpus, .minimum = 1};
  gang.created_at = instant_of(holder.meta->created_at);
  build.pods[pod] = {
      .phase = model::Pod::Phase::ready, .gang = id, .gpus = gpus, .node = node, .created_at = gang.created_at};
  build.unnumbered.push_back(id);
  build.gangs[id] = std::move(gang);
}

/// Adds the rows of a gang.
/// @return its id; none if it gets no row
model::GangId SnapshotBuilder::add_gang(FullBuild& build, const PodGroup& group, model::ServiceId service,
                                        Instant expected_ready_at) {
  // If two selectors match the same pod, the pod belongs to the first one.
  if (std::ranges::any_of(group.pods, [&](const kube::Pod* pod) { return build.taken.contains(pod); })) return {};
  const kube::Pod& first = *group.pods.front();
  const bool placed_here = places(build.fleet, first.spec.scheduler);
  const bool in_part = is_annotated_in_part(group);
  const bool any_bound =
      !in_part && std::ranges::any_of(group.pods, [](const kube::Pod* pod) { return node_of(*pod) != ""; });
  // A gang cannot be placed before all of its pods exist. Until then it counts as a planned replica.
  if (placed_here && !group.whole() && !any_bound) return {};
  const model::GangId id = gangs_.id_of(key_of("Gang", first.meta), group.name);
  model::Gang gang;
  gang.phase = phase_of(group);
  gang.service = service;
  gang.spec.pods.gpus_per_pod = std::max(build.holders.of(first), kLeastGpu);
  gang.spec.together = group.expected > 1 ? model::TopologyLevel::cluster : model::TopologyLevel::node;
  gang.created_at = instant_of(first.meta.created_at);
  gang.spec.pods.minimum =
      group.expected == PodGroup::kUnknownSize ? 1 : group.expected;  // an unknown size breaks no gang
  gang.spec.pods.count = std::max(std::ssize(group.pods), gang.spec.pods.minimum);
  if (gang.phase == model::Gang::Phase::starting) gang.expected_ready_at = expected_ready_at;
  gang.spec.pods.gpu = catalog_.any_gpu_kind();
  if (service.valid()) gang.spec.pods.gpu = catalog_.workload_of(service).gpu;
  if (placed_here && gang.phase == model::Gang::Phase::pending) read_placement_request(build, group, gang);
  for (const kube::Pod* pod : group.pods) {
    build.taken.insert(pod);
    model::Pod row;
    row.phase = phase_of(*pod);
    row.gang = id;
    row.gpus = build.holders.of(*pod);
    row.created_at = instant_of(pod->meta.created_at);
    row.queue = build.queues.of(*pod);
    const auto node = in_part ? build.node_by_name.end() : build.node_by_name.find(node_held_by(*pod, build.fleet));
    if (node != build.node_by_name.end()) {
      row.node = node->second;
      gang.spec.pods.gpu = build.nodes.at(row.node).gpu;
    }
    const model::PodId pod_id = pods_.id_of(key_of("Pod", pod->meta), pod->meta.key());
    gang.pods.push_back(pod_id);
    build.pods[pod_id] = row;
  }
  const model::ReplicaSignals& signals = build.readings.of(first.meta.uid);
  if (signals != model::ReplicaSignals{}) build.signals[id] = signals;
  if (group.ordinal) {
    gang.ordinal = *group.ordinal;
  } else {
    build.unnumbered.push_back(id);
  }
  build.gangs[id] = std::move(gang);
  return id;
}

/// Reads where a pending gang may be placed.
void SnapshotBuilder::read_placement_request(FullBuild& build, const PodGroup& group, model::Gang& gang) {
  const kube::Pod& first = *group.pods.front();
  catalog_.constrain(constraint_of(first, build.kai_constraints), gang.spec.together, gang.spec.preferred);
  gang.spec.pods.pod_class = build.eligibility.class_of(first.spec);
  const model::GpuKindId gpu = build.eligibility.kind_for(gang.spec.pods.pod_class);
  if (!gang.service.valid() && gpu.valid()) gang.spec.pods.gpu = gpu;
}

/// Gives each replica of a service its own number. The replicas of a Deployment have none: each gets the lowest free
/// number and keeps it.
void SnapshotBuilder::number_gangs(FullBuild& build) {
  std::map<model::ServiceId, std::set<std::uint32_t>> used;
  std::map<model::GangId, std::uint32_t> numbers;
  const std::set<model::GangId> unnumbered(build.unnumbered.begin(), build.unnumbered.end());
  for (const auto& [id, gang] : build.gangs) {
    if (!gang.service.valid() || unnumbered.contains(id)) continue;
    // A pod that was made by hand may have the number of another one. Then it counts as unnumbered.
    if (!used[gang.service].insert(gang.ordinal).second) build.unnumbered.push_back(id);
  }
  const auto take = [&](model::GangId id, std::uint32_t number) {
    model::Gang& gang = build.gangs.at(id);
    gang.ordinal = numbers[id] = number;
    used[gang.service].insert(number);
  };
  for (const model::GangId id : build.unnumbered) {
    const auto old = ordinals_.find(id);
    if (old == ordinals_.end()) continue;
    const model::Gang& gang = build.gangs.at(id);
    if (!used[gang.service].contains(old->second)) take(id, old->second);
  }
  for (const model::GangId id : build.unnumbered) {
    if (numbers.contains(id)) continue;
    const model::Gang& gang = build.gangs.at(id);
    const std::set<std::uint32_t>& others = used[gang.service];
    std::uint32_t free = 0;
    while (others.contains(free)) ++free;
    take(id, free);
  }
  ordinals_ = std::move(numbers);
}

}  // namespace capstan::op
