// The part of SnapshotBuilder that makes the rows of gangs, pods and other holders of GPUs.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/known_row.h"
#include "operator/snapshot/gang_request.h"
#include "operator/snapshot/pass.h"
#include "operator/snapshot/pod_node.h"

namespace capstan::op {
namespace {

/// The GPUs per pod of a replica that asks for none, such as an emulator. They are not zero, because placement divides
/// by the GPUs of a replica.
constexpr MilliGpu kMinGpu{1};

/// Returns the latest `time` of the pods of a replica, at most `now`. Returns never if a pod is missing or lacks this
/// time. The times come from the clocks of the nodes.
Instant last_of(const PodGroup& group, kube::WallTime kube::Pod::* time, Instant now) {
  if (!group.whole()) return Instant::never();
  Instant last;
  for (const kube::Pod* pod : group.pods) {
    if (!(pod->*time).is_set()) return Instant::never();
    last = std::max(last, instant_of(pod->*time));
  }
  return std::min(last, now);
}

/// Returns the highest priority of the pods. The API server has set it from their priority class.
std::int32_t priority_of(const PodGroup& group) {
  std::int64_t highest = std::numeric_limits<std::int32_t>::min();
  for (const kube::Pod* pod : group.pods) highest = std::max(highest, pod->spec.priority);
  return static_cast<std::int32_t>(std::min<std::int64_t>(highest, std::numeric_limits<std::int32_t>::max()));
}

/// Returns true if the pod is left to Capstan alone and has no node.
bool waits_for_capstan(const kube::Pod& pod) { return pod.spec.scheduler == kScheduler && !pod.bound(); }

/// Returns true for a gang without GPUs that no scheduler places: Capstan does not, and its pods name no other one. It
/// has a row so that its verdict says so.
bool waits_in_vain(const PodGroup& group) {
  return std::ranges::all_of(group.pods, [](const kube::Pod* pod) { return waits_for_capstan(*pod); });
}

}  // namespace

/// Makes the gangs of the touched replicas of a target. If the target takes or releases a pod, the replicas of later
/// targets that contain this pod are touched, too.
void SnapshotBuilder::set_gangs(Pass& pass, std::uint32_t at, const ReplicaKeys& keys) {
  ReplicaTable& table = state_->replicas;
  Target& target = table.targets()[at];
  std::map<kube::RowId, std::uint32_t> taken_before;
  for (const ReplicaTable::Key key : keys) {
    const Replica& replica = known_row(target.replicas, key);
    for (const auto* rows : {&replica.members, &replica.taken}) {
      for (const kube::RowId row : *rows) taken_before.emplace(row, table.pod(row).taken_by);
    }
  }
  for (const ReplicaTable::Key key : keys) {
    for (const kube::RowId row : std::exchange(known_row(target.replicas, key).taken, {})) {
      if (table.pod(row).taken_by == at) table.pod(row).taken_by = ReplicaTable::kNoTarget;
    }
  }
  for (const ReplicaTable::Key key : keys) {
    Replica& replica = known_row(target.replicas, key);
    const model::GangId before = replica.gang;
    retire(pass, replica);
    if (!replica.group.pods.empty()) set_gang(pass, replica, at, target.starts.expected_ready_at(replica.group));
    if (replica.number && replica.gang != before) {
      target.numbers.free(*replica.number, before);
      replica.number.reset();
    }
    if (!replica.gang.valid()) continue;
    replica.taken = replica.members;
    for (const kube::RowId row : replica.taken) table.pod(row).taken_by = at;
  }
  for (const auto& [row, before] : taken_before) {
    if (table.pod(row).taken_by != before) table.touch_pod(row, at + 1);
  }
}

/// Separates a replica from its gang. The rows of the gang and of its pods are removed at the end of the pass, unless
/// the pass makes them again.
void SnapshotBuilder::retire(Pass& pass, Replica& replica) {
  for (const model::PodClassId pods : std::exchange(replica.pod_classes, {})) eligibility_.release(pods);
  replica.serves = false;
  const model::GangId gang = std::exchange(replica.gang, {});
  if (!gang.valid()) return;
  pass.old_gangs.insert(gang);
  const model::Gang* row = last_.gangs.find(gang);
  if (row == nullptr) return;
  for (const model::PodId pod : row->pods) {
    pass.old_pods.insert(pod);
    state_->queues.release(last_.pods.at(pod).queue);
  }
}

/// Makes the rows of the gang of a replica, if the replica gets a gang.
/// @param at  target of the replica; `kNoTarget` for a gang of other pods
void SnapshotBuilder::set_gang(Pass& pass, Replica& replica, std::uint32_t at, Instant expected_ready_at) {
  const PodGroup& group = replica.group;
  // If the selectors of two targets match the same pod, the pod belongs to the first target.
  const auto is_taken = [&](kube::RowId row) { return state_->replicas.pod(row).taken_by < at; };
  if (std::ranges::any_of(replica.members, is_taken)) return;
  const kube::Pod& first = *group.pods.front();
  const bool placed_here = places(*state_->fleet, first.spec.scheduler);
  const bool any_bound = !is_annotated_in_part(group) &&
                         std::ranges::any_of(group.pods, [](const kube::Pod* pod) { return node_of(*pod) != ""; });
  // A gang cannot be placed before all of its pods exist. Until then it counts as a planned replica of its service. A
  // gang of known size without a service has a row nevertheless, so that a verdict states how many pods are missing.
  const bool is_planned = at != ReplicaTable::kNoTarget || group.expected == PodGroup::kUnknownSize;
  if (placed_here && !group.whole() && !any_bound && is_planned) return;
  std::vector<MilliGpu> gpus;
  for (const kube::Pod* pod : group.pods) gpus.push_back(state_->holders.pod_gpus(*pod));
  const bool needs_gpus =
      std::ranges::max(gpus) > MilliGpu{} ||
      std::ranges::any_of(group.pods, [](const kube::Pod* pod) { return pod->spec.has_resource_claims; });
  const bool without_gpus = at == ReplicaTable::kNoTarget && !needs_gpus;
  if (without_gpus && !waits_in_vain(group)) return;
  const model::GangId id = gangs_.id_of(key_of("Gang", first.meta), group.name);
  model::Gang gang;
  gang.phase = phase_of(group);
  if (at != ReplicaTable::kNoTarget) gang.service = state_->replicas.targets()[at].service;
  gang.spec.priority = priority_of(group);
  gang.spec.preemptible = first.meta.labels.get(kKaiPreemptibilityLabel) == "preemptible";
  gang.spec.pods.gpus_per_pod = std::max(kMinGpu, std::ranges::max(gpus));
  gang.spec.required_level = group.expected > 1 ? model::TopologyLevel::cluster : model::TopologyLevel::node;
  gang.spec.pods.minimum =
      group.expected == PodGroup::kUnknownSize ? 1 : group.expected;  // a gang of unknown size never counts as broken
  gang.spec.pods.count = std::max(std::ssize(group.pods), gang.spec.pods.minimum);
  if (gang.phase == model::Gang::Phase::starting) gang.expected_ready_at = expected_ready_at;
  gang.spec.pods.gpu = catalog_.any_gpu_kind();
  if (gang.service.valid()) gang.spec.pods.gpu = catalog_.workload_of(gang.service).gpu;
  std::vector<std::uint8_t> sets(group.pods.size());
  if (placed_here && gang.phase == model::Gang::Phase::pending) {
    // The number of pods that a gang of unknown size needs is not known for its sets either.
    if (group.expected != PodGroup::kUnknownSize) sets = pod_sets_of(group.pods, gpus);
    read_placement_request(replica, gang, sets, without_gpus ? model::PodRule::no_gpus : model::PodRule::none);
  }
  replica.gang = id;
  replica.serves = gang.service.valid() && is_scraped(group);
  add_pods(pass, replica, gang, sets);
  pass.signals[id] = state_->readings.signals_of(first.meta.uid);
  pass.gangs[id] = std::move(gang);
}

/// Adds the rows of the pods of a gang, whose sets are given by pod. A moment after the time of the pass becomes that
/// time, so that no age is negative: the clock of another machine can be ahead of ours.
void SnapshotBuilder::add_pods(Pass& pass, const Replica& replica, model::Gang& gang,
                               const std::vector<std::uint8_t>& sets) {
  const bool in_part = is_annotated_in_part(replica.group);
  bool is_ahead = false;
  const auto created_at = [&](const kube::Pod& pod) {
    const Instant at = instant_of(pod.meta.created_at);
    is_ahead = is_ahead || at > pass.at;
    return std::min(at, pass.at);
  };
  gang.created_at = created_at(*replica.group.pods.front());
  gang.initialized_at = last_of(replica.group, &kube::Pod::initialized_at, pass.at);
  gang.containers_started_at = last_of(replica.group, &kube::Pod::containers_started_at, pass.at);
  for (std::size_t i = 0; i < sets.size(); ++i) {
    const kube::Pod* pod = replica.group.pods[i];
    model::Pod row;
    row.phase = phase_of(*pod);
    row.gang = replica.gang;
    row.set = sets[i];
    row.gpus = state_->holders.pod_gpus(*pod);
    row.created_at = created_at(*pod);
    row.queue = state_->queues.take(*pod);
    const State::KnownNode* node = in_part ? nullptr : state_->find_node(node_held_by(*pod, *state_->fleet));
    // If a pod holds GPUs of a node that reports none now, the GPUs of the node are not visible. The pod then has no
    // node in the snapshot.
    if (node != nullptr && !node->gpu.valid() && row.gpus > MilliGpu{}) node = nullptr;
    if (node != nullptr) {
      row.node = node->id;
      row.devices = state_->holders.devices_of(*pod);
      if (node->gpu.valid()) gang.spec.pods.gpu = node->gpu;
    }
    const model::PodId id = pods_.id_of(key_of("Pod", pod->meta), pod->meta.key());
    gang.pods.push_back(id);
    pass.pods[id] = row;
  }
  gang.spec.queue = known_row(pass.pods, gang.pods.front()).queue;
  if (is_ahead) state_->future_pods.insert(replica.members.begin(), replica.members.end());
}

/// Reads the pod sets of a pending gang and where they may be placed.
/// @param sets     number of the set of each pod
/// @param of_gang  rule because of which Capstan places none of the pods; none: only the rules of each pod count
void SnapshotBuilder::read_placement_request(Replica& replica, model::Gang& gang, const std::vector<std::uint8_t>& sets,
                                             model::PodRule of_gang) {
  const kube::Pod& leader = *replica.group.pods.front();
  catalog_.constrain(constraint_of(leader, state_->kai_constraints), gang.spec.required_level, gang.spec.preferred);
  std::vector<std::vector<const kube::Pod*>> pods(std::size_t{1} + std::ranges::max(sets));
  for (std::size_t i = 0; i < sets.size(); ++i) pods[sets[i]].push_back(replica.group.pods[i]);
  for (const auto& equal : pods) {
    std::set<std::string> apart_from;
    for (const kube::Pod* pod : equal) apart_from.merge(eligibility_.apart_from(pod->meta.ns, pod->meta.labels));
    replica.pod_classes.push_back(eligibility_.take_class(request_for_all(equal), std::move(apart_from), of_gang));
  }
  model::PodSet& first = gang.spec.pods;
  first.pod_class = replica.pod_classes.front();
  if (!gang.service.valid()) {
    const model::GpuKindId gpu = eligibility_.kind_for(first.pod_class, state_->view.nodes);
    if (gpu.valid()) first.gpu = gpu;
  }
  // The number of pods that the gang needs is known only for all sets together. All existing pods of the other sets
  // count as needed.
  for (std::size_t set = 1; set < pods.size(); ++set) {
    const std::int64_t count = std::ssize(pods[set]);
    gang.spec.other_pods.push_back({.gpu = first.gpu,
                                    .count = count,
                                    .gpus_per_pod = state_->holders.pod_gpus(*pods[set].front()),
                                    .pod_class = replica.pod_classes[set],
                                    .minimum = count});
    first.minimum -= count;
  }
  first.minimum = std::max<std::int64_t>(first.minimum, 1);
  first.count = std::max(std::ssize(pods.front()), first.minimum);
}

/// Gives each new gang among the touched replicas of a service a number.
void SnapshotBuilder::number_gangs(Pass& pass, Target& target, const ReplicaKeys& keys) {
  bool is_simple = !target.has_double_numbers;
  std::vector<Replica*> all;
  std::vector<model::GangId> unnumbered;
  for (const ReplicaTable::Key key : keys) {
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
  if (!is_simple) return number_all_gangs(pass, target);
  number_unnumbered(target.numbers, unnumbered);
  for (Replica* replica : all) {
    if (replica->group.ordinal) ordinals_.erase(replica->gang);
    if (!replica->number) replica->number = known_row(ordinals_, replica->gang);
    known_row(pass.gangs, replica->gang).ordinal = *replica->number;
  }
}

/// Gives each replica of a service its own number. A Deployment does not number its replicas: each gets the lowest free
/// number and keeps it.
void SnapshotBuilder::number_all_gangs(Pass& pass, Target& target) {
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
    if (!replica.number) replica.number = known_row(ordinals_, replica.gang);
    gang_row(pass, replica.gang).ordinal = *replica.number;
  }
}

/// Numbers the gangs that their workload does not number: with the number of the last pass if that number is free, else
/// with the lowest free number.
void SnapshotBuilder::number_unnumbered(ReplicaNumbers& numbers, const std::vector<model::GangId>& gangs) {
  std::vector<model::GangId> others;
  for (const model::GangId gang : gangs) {
    const auto old = ordinals_.find(gang);
    if (old == ordinals_.end() || !numbers.take(old->second, gang)) others.push_back(gang);
  }
  for (const model::GangId gang : others) ordinals_[gang] = numbers.take_lowest(gang);
}

/// Returns the row of a gang, to be changed.
model::Gang& SnapshotBuilder::gang_row(Pass& pass, model::GangId id) const {
  const auto found = pass.gangs.find(id);
  return found != pass.gangs.end() ? found->second : pass.gangs.emplace(id, last_.gangs.at(id)).first->second;
}

/// Makes the gangs of the pods that no target has taken: pods that hold GPUs, and gangs that wait for Capstan to place
/// them.
void SnapshotBuilder::settle_other_gangs(Pass& pass) {
  ReplicaTable& table = state_->replicas;
  std::set<ReplicaTable::OtherGangKey> touched;
  for (const kube::RowId row : table.take_touched_rows()) {
    if (const auto& old = table.pod(row).other_gang) touched.insert(*old);
    table.set_other_gang(row, other_gang_key_of(row));
    if (const auto& now = table.pod(row).other_gang) touched.insert(*now);
  }
  // Gangs of one namespace are in the order of their first pods. Gangs that Capstan places come after the others.
  using Place = std::tuple<std::string_view, bool, kube::RowId, const ReplicaTable::OtherGangKey*>;
  std::vector<Place> sorted;
  for (const ReplicaTable::OtherGangKey& key : touched) {
    const Replica& replica = known_row(table.other_gangs(), key);
    const kube::RowId first = replica.members.empty() ? kube::RowId() : replica.members.front();
    sorted.emplace_back(key.ns, key.placed_here, first, &key);
  }
  std::ranges::sort(sorted);
  for (const auto& [ns, placed_here, first, key] : sorted) {
    Replica& replica = known_row(table.other_gangs(), *key);
    retire(pass, replica);
    if (replica.members.empty()) {
      table.other_gangs().erase(*key);
      continue;
    }
    const std::vector<const kube::Pod*> pods = table.pods_of(replica);
    if (placed_here) {
      replica.group = std::move(gangs_of(pods, state_->gang_sizes).front());
    } else {
      replica.group = {.pods = pods, .expected = 1, .ordinal = 0, .name = pods.front()->meta.key()};
    }
    set_gang(pass, replica, ReplicaTable::kNoTarget, Instant::never());
    ordinals_.erase(replica.gang);
  }
}

/// Returns the key of a pod's gang among the other pods. Returns none if a target has taken the pod, if another
/// scheduler has not placed it yet, or if the pod needs no GPUs, belongs to no gang that Capstan places, and does not
/// wait for Capstan.
std::optional<ReplicaTable::OtherGangKey> SnapshotBuilder::other_gang_key_of(kube::RowId row) const {
  const ReplicaTable::Pod& entry = state_->replicas.pod(row);
  const kube::Pod* pod = entry.pod;
  if (pod == nullptr || entry.taken_by != ReplicaTable::kNoTarget) return std::nullopt;
  const bool waits_for_claims = pod->spec.has_resource_claims && !pod->bound();
  const bool needs_gpus = state_->holders.pod_gpus(*pod) > MilliGpu{} || waits_for_claims;
  const bool placed_here = places(*state_->fleet, pod->spec.scheduler);
  std::string gang = placed_here ? gang_key_of(*pod) : std::string();
  if (!needs_gpus && gang.empty() && !(placed_here && waits_for_capstan(*pod))) return std::nullopt;
  const std::string& ns = pod->meta.ns;
  if (placed_here) {
    const kube::RowId own_row = gang.empty() ? row : kube::RowId();
    return ReplicaTable::OtherGangKey{ns, true, std::move(gang), own_row};
  }
  if (!pod->bound() && state_->find_gpu_node(entry.node) == nullptr) return std::nullopt;
  return ReplicaTable::OtherGangKey{ns, false, {}, row};
}

/// Adds a gang of one pod for an object that holds GPUs of a node.
/// @param gpu  GPU kind of the node
model::GangId SnapshotBuilder::add_holder(Pass& pass, const OtherHolder& holder, model::NodeId node,
                                          model::GpuKindId gpu, MilliGpu gpus) {
  // A claim can hold GPUs of several nodes. It has a row for each of them.
  const ObjectKey key = key_of("GPUs on " + holder.node + " of " + holder.kind, *holder.meta);
  const std::string shown = std::string(holder.kind) + " " + holder.meta->key();
  const model::GangId id = gangs_.id_of(key, shown);
  const model::PodId pod = pods_.id_of(key, shown);
  const Instant created_at = instant_of(holder.meta->created_at);
  state_->has_future_objects = state_->has_future_objects || created_at > pass.at;
  model::Gang gang;
  gang.phase = model::Gang::Phase::ready;
  gang.pods = {pod};
  gang.spec.pods = {.gpu = gpu, .count = 1, .gpus_per_pod = gpus, .minimum = 1};
  gang.created_at = std::min(created_at, pass.at);
  pass.pods[pod] = {
      .phase = model::Pod::Phase::ready, .gang = id, .gpus = gpus, .node = node, .created_at = gang.created_at};
  pass.gangs[id] = std::move(gang);
  return id;
}

}  // namespace capstan::op
