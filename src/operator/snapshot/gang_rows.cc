// The part of SnapshotBuilder that makes the rows of gangs, pods and other holders of GPUs.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "operator/snapshot/look.h"
#include "operator/snapshot/pod_node.h"

namespace capstan::op {
namespace {

/// The GPUs of a replica that asks for none, such as an emulator. Placement divides by the GPUs of a replica.
constexpr MilliGpu kLeastGpu{1};

}  // namespace

/// Makes the gangs of touched replicas of a target. Pods that the target takes or releases touch their replicas in
/// later targets.
void SnapshotBuilder::set_gangs(Look& look, std::uint32_t at, const ReplicaKeys& keys) {
  KeptReplicas& kept = kept_->replicas;
  Target& target = kept.targets()[at];
  std::map<kube::RowId, std::uint32_t> taken_before;
  for (const KeptReplicas::Key key : keys) {
    const Replica& replica = target.replicas.at(key);
    for (const auto* rows : {&replica.members, &replica.taken}) {
      for (const kube::RowId row : *rows) taken_before.emplace(row, kept.pod(row).taken_by);
    }
  }
  for (const KeptReplicas::Key key : keys) {
    for (const kube::RowId row : std::exchange(target.replicas.at(key).taken, {})) {
      if (kept.pod(row).taken_by == at) kept.pod(row).taken_by = KeptReplicas::kNoTarget;
    }
  }
  for (const KeptReplicas::Key key : keys) {
    Replica& replica = target.replicas.at(key);
    const model::GangId before = replica.gang;
    retire(look, replica);
    if (!replica.group.pods.empty()) set_gang(look, replica, at, target.starts.expected_ready_at(replica.group));
    if (replica.number && replica.gang != before) {
      target.numbers.free(*replica.number, before);
      replica.number.reset();
    }
    if (!replica.gang.valid()) continue;
    replica.taken = replica.members;
    for (const kube::RowId row : replica.taken) kept.pod(row).taken_by = at;
  }
  for (const auto& [row, before] : taken_before) {
    if (kept.pod(row).taken_by != before) kept.touch_pod(row, at + 1);
  }
}

/// Takes the gang from a replica. Its rows are gone unless the look makes them again.
void SnapshotBuilder::retire(Look& look, Replica& replica) {
  if (const model::PodClassId pods = std::exchange(replica.pod_class, {}); pods.valid()) eligibility_.give_back(pods);
  replica.serves = false;
  const model::GangId gang = std::exchange(replica.gang, {});
  if (!gang.valid()) return;
  look.old_gangs.insert(gang);
  if (const model::Gang* row = last_.gangs.find(gang)) look.old_pods.insert(row->pods.begin(), row->pods.end());
}

/// Makes the rows of the gang of a replica, if it gets any.
/// @param at  target of the replica; `kNoTarget` for a gang of other pods
void SnapshotBuilder::set_gang(Look& look, Replica& replica, std::uint32_t at, Instant expected_ready_at) {
  const PodGroup& group = replica.group;
  // If two selectors match the same pod, the pod belongs to the first one.
  const auto is_taken = [&](kube::RowId row) { return kept_->replicas.pod(row).taken_by < at; };
  if (std::ranges::any_of(replica.members, is_taken)) return;
  const kube::Pod& first = *group.pods.front();
  const bool placed_here = places(*kept_->fleet, first.spec.scheduler);
  const bool any_bound = !is_annotated_in_part(group) &&
                         std::ranges::any_of(group.pods, [](const kube::Pod* pod) { return node_of(*pod) != ""; });
  // A gang cannot be placed before all of its pods exist. Until then it counts as a planned replica.
  if (placed_here && !group.whole() && !any_bound) return;
  const model::GangId id = gangs_.id_of(key_of("Gang", first.meta), group.name);
  model::Gang gang;
  gang.phase = phase_of(group);
  if (at != KeptReplicas::kNoTarget) gang.service = kept_->replicas.targets()[at].service;
  gang.spec.pods.gpus_per_pod = std::max(kept_->holders.of(first), kLeastGpu);
  gang.spec.together = group.expected > 1 ? model::TopologyLevel::cluster : model::TopologyLevel::node;
  gang.spec.pods.minimum =
      group.expected == PodGroup::kUnknownSize ? 1 : group.expected;  // an unknown size breaks no gang
  gang.spec.pods.count = std::max(std::ssize(group.pods), gang.spec.pods.minimum);
  if (gang.phase == model::Gang::Phase::starting) gang.expected_ready_at = expected_ready_at;
  gang.spec.pods.gpu = catalog_.any_gpu_kind();
  if (gang.service.valid()) gang.spec.pods.gpu = catalog_.workload_of(gang.service).gpu;
  if (placed_here && gang.phase == model::Gang::Phase::pending) read_placement_request(replica, gang);
  replica.gang = id;
  replica.serves = gang.service.valid() && is_scraped(group);
  add_pods(look, replica, gang);
  look.signals[id] = kept_->readings.of(first.meta.uid);
  look.gangs[id] = std::move(gang);
}

/// Adds the rows of the pods of a gang. A moment after the time of the look becomes that time, so that no age is
/// negative: the clock of another machine can be ahead of ours.
void SnapshotBuilder::add_pods(Look& look, const Replica& replica, model::Gang& gang) {
  const bool in_part = is_annotated_in_part(replica.group);
  bool is_ahead = false;
  const auto created_at = [&](const kube::Pod& pod) {
    const Instant at = instant_of(pod.meta.created_at);
    is_ahead = is_ahead || at > look.at;
    return std::min(at, look.at);
  };
  gang.created_at = created_at(*replica.group.pods.front());
  for (const kube::Pod* pod : replica.group.pods) {
    model::Pod row;
    row.phase = phase_of(*pod);
    row.gang = replica.gang;
    row.gpus = kept_->holders.of(*pod);
    row.created_at = created_at(*pod);
    row.queue = kept_->queues.of(*pod);
    const Kept::NodeOf* node = in_part ? nullptr : kept_->find_node(node_held_by(*pod, *kept_->fleet));
    if (node != nullptr) {
      row.node = node->id;
      row.devices = kept_->holders.devices_of(*pod);
      gang.spec.pods.gpu = node->gpu;
    }
    const model::PodId id = pods_.id_of(key_of("Pod", pod->meta), pod->meta.key());
    gang.pods.push_back(id);
    look.pods[id] = row;
  }
  if (is_ahead) kept_->ahead.insert(replica.members.begin(), replica.members.end());
}

/// Reads where a pending gang may be placed.
void SnapshotBuilder::read_placement_request(Replica& replica, model::Gang& gang) {
  const kube::Pod& first = *replica.group.pods.front();
  catalog_.constrain(constraint_of(first, kept_->kai_constraints), gang.spec.together, gang.spec.preferred);
  replica.pod_class = gang.spec.pods.pod_class = eligibility_.take_class(first.spec);
  if (gang.service.valid()) return;
  const model::GpuKindId gpu = eligibility_.kind_for(replica.pod_class, kept_->view.nodes);
  if (gpu.valid()) gang.spec.pods.gpu = gpu;
}

/// Gives each new gang among the touched replicas of a service a number.
void SnapshotBuilder::number_gangs(Look& look, Target& target, const ReplicaKeys& keys) {
  bool is_simple = !target.has_double_numbers;
  std::vector<Replica*> all;
  std::vector<model::GangId> unnumbered;
  for (const KeptReplicas::Key key : keys) {
    const auto found = target.replicas.find(key);
    if (found == target.replicas.end() || !found->second.gang.valid()) continue;
    Replica& replica = found->second;
    all.push_back(&replica);
    if (replica.number) continue;
    if (replica.group.ordinal) {
      is_simple = target.numbers.take(*replica.group.ordinal, replica.gang) && is_simple;
      replica.number = replica.group.ordinal;
    } else {
      is_simple = is_simple && !ordinals_.contains(replica.gang);
      unnumbered.push_back(replica.gang);
    }
  }
  if (!is_simple) return number_all_gangs(look, target);
  number_unnumbered(target.numbers, unnumbered);
  for (Replica* replica : all) {
    if (replica->group.ordinal) ordinals_.erase(replica->gang);
    if (!replica->number) replica->number = ordinals_.at(replica->gang);
    look.gangs.at(replica->gang).ordinal = *replica->number;
  }
}

/// Gives each replica of a service its own number. The replicas of a Deployment have none: each gets the lowest free
/// number and keeps it.
void SnapshotBuilder::number_all_gangs(Look& look, Target& target) {
  target.numbers = {};
  target.has_double_numbers = false;
  std::vector<model::GangId> unnumbered;
  std::map<model::GangId, Replica*> numbered;
  for (auto& [key, replica] : target.replicas) {
    replica.number.reset();
    if (!replica.gang.valid()) continue;
    if (replica.group.ordinal) {
      numbered[replica.gang] = &replica;
    } else {
      unnumbered.push_back(replica.gang);
    }
  }
  for (const auto& [gang, replica] : numbered) {
    if (target.numbers.take(*replica->group.ordinal, gang)) {
      ordinals_.erase(gang);
      replica->number = replica->group.ordinal;
    } else {  // A pod that was made by hand may have the number of another one. Then it counts as unnumbered.
      target.has_double_numbers = true;
      unnumbered.push_back(gang);
    }
  }
  number_unnumbered(target.numbers, unnumbered);
  for (auto& [key, replica] : target.replicas) {
    if (!replica.gang.valid()) continue;
    if (!replica.number) replica.number = ordinals_.at(replica.gang);
    gang_row(look, replica.gang).ordinal = *replica.number;
  }
}

/// Gives replicas that their workload does not number the numbers of the last look, or else the lowest free ones.
void SnapshotBuilder::number_unnumbered(ReplicaNumbers& numbers, const std::vector<model::GangId>& gangs) {
  std::vector<model::GangId> others;
  for (const model::GangId gang : gangs) {
    const auto old = ordinals_.find(gang);
    if (old == ordinals_.end() || !numbers.take(old->second, gang)) others.push_back(gang);
  }
  for (const model::GangId gang : others) ordinals_[gang] = numbers.take_lowest(gang);
}

/// Returns the row of a gang, to be changed.
model::Gang& SnapshotBuilder::gang_row(Look& look, model::GangId id) const {
  const auto found = look.gangs.find(id);
  return found != look.gangs.end() ? found->second : look.gangs.emplace(id, last_.gangs.at(id)).first->second;
}

/// Makes the gangs of the pods that no target has taken: pods that hold GPUs, and gangs that wait for Capstan to place
/// them.
void SnapshotBuilder::settle_others(Look& look) {
  KeptReplicas& kept = kept_->replicas;
  std::set<KeptReplicas::OtherKey> touched;
  for (const kube::RowId row : kept.take_touched_rows()) {
    if (const auto& old = kept.pod(row).other) touched.insert(*old);
    kept.set_other(row, other_key_of(row));
    if (const auto& now = kept.pod(row).other) touched.insert(*now);
  }
  // The gangs of one namespace have the order of their first pods, with the gangs that Capstan places last.
  using Place = std::tuple<std::string_view, bool, kube::RowId, const KeptReplicas::OtherKey*>;
  std::vector<Place> sorted;
  for (const KeptReplicas::OtherKey& key : touched) {
    const Replica& replica = kept.others().at(key);
    const kube::RowId first = replica.members.empty() ? kube::RowId() : replica.members.front();
    sorted.emplace_back(key.ns, key.placed_here, first, &key);
  }
  std::ranges::sort(sorted);
  for (const auto& [ns, placed_here, first, key] : sorted) {
    Replica& replica = kept.others().at(*key);
    retire(look, replica);
    if (replica.members.empty()) {
      kept.others().erase(*key);
      continue;
    }
    const std::vector<const kube::Pod*> pods = kept.pods_of(replica);
    if (placed_here) {
      replica.group = std::move(gangs_of(pods, kept_->gang_sizes).front());
    } else {
      replica.group = {.pods = pods, .expected = 1, .ordinal = 0, .name = pods.front()->meta.key()};
    }
    set_gang(look, replica, KeptReplicas::kNoTarget, Instant::never());
    ordinals_.erase(replica.gang);
  }
}

/// Returns the gang of a pod among the pods that no target has taken; none if it is not one of them.
std::optional<KeptReplicas::OtherKey> SnapshotBuilder::other_key_of(kube::RowId row) const {
  const KeptReplicas::Pod& entry = kept_->replicas.pod(row);
  const kube::Pod* pod = entry.pod;
  if (pod == nullptr || entry.taken_by != KeptReplicas::kNoTarget) return std::nullopt;
  const bool waits_for_claims = pod->spec.has_resource_claims && !pod->bound();
  if (kept_->holders.of(*pod) == MilliGpu{} && !waits_for_claims) return std::nullopt;
  const std::string& ns = pod->meta.ns;
  if (places(*kept_->fleet, pod->spec.scheduler)) {
    std::string gang = gang_key_of(*pod);
    const kube::RowId own_row = gang.empty() ? row : kube::RowId();
    return KeptReplicas::OtherKey{ns, true, std::move(gang), own_row};
  }
  if (!pod->bound() && kept_->find_node(entry.node) == nullptr) return std::nullopt;
  return KeptReplicas::OtherKey{ns, false, {}, row};
}

/// Adds rows for the objects that hold GPUs and have no row as a pod, so that nothing else is placed on these GPUs:
/// first the objects that hold a known number, then the objects that may hold all that is left.
void SnapshotBuilder::read_other_holders(Look& look) {
  const std::vector<GpuHolders::Other>& others = kept_->holders.others();
  if (others.empty()) return;
  std::map<model::NodeId, MilliGpu> left;
  for (const auto& [id, node] : look.nodes) left[id] = node.gpus;
  for (const auto& [id, pod] : look.pods) {
    if (pod.node.valid()) left[pod.node] -= pod.gpus;
  }
  std::vector<model::GangId> added;
  const auto add = [&](const GpuHolders::Other& other) {
    kept_->with_other_holders.insert(other.node);
    const Kept::NodeOf* node = kept_->find_node(other.node);
    if (node == nullptr) return;
    const MilliGpu gpus = std::min(other.gpus.value_or(left[node->id]), left[node->id]);
    if (gpus <= MilliGpu{}) return;
    left[node->id] -= gpus;
    added.push_back(add_holder(look, other, node->id, node->gpu, gpus));
  };
  for (const GpuHolders::Other& other : others) {
    if (other.gpus) add(other);
  }
  for (const GpuHolders::Other& other : others) {
    if (!other.gpus) add(other);
  }
  ReplicaNumbers numbers;
  number_unnumbered(numbers, added);
  for (const model::GangId id : added) look.gangs.at(id).ordinal = ordinals_.at(id);
}

/// Adds a gang of one pod for an object that holds GPUs of a node.
/// @param gpu  GPU kind of the node
model::GangId SnapshotBuilder::add_holder(Look& look, const GpuHolders::Other& holder, model::NodeId node,
                                          model::GpuKindId gpu, MilliGpu gpus) {
  const ObjectKey key = key_of(std::string("GPUs of ") + holder.kind, *holder.meta);
  const std::string shown = std::string(holder.kind) + " " + holder.meta->key();
  const model::GangId id = gangs_.id_of(key, shown);
  const model::PodId pod = pods_.id_of(key, shown);
  const Instant created_at = instant_of(holder.meta->created_at);
  kept_->others_ahead = kept_->others_ahead || created_at > look.at;
  model::Gang gang;
  gang.phase = model::Gang::Phase::ready;
  gang.pods = {pod};
  gang.spec.pods = {.gpu = gpu, .count = 1, .gpus_per_pod = gpus, .minimum = 1};
  gang.created_at = std::min(created_at, look.at);
  look.pods[pod] = {
      .phase = model::Pod::Phase::ready, .gang = id, .gpus = gpus, .node = node, .created_at = gang.created_at};
  look.gangs[id] = std::move(gang);
  return id;
}

}  // namespace capstan::op
