// The part of SnapshotBuilder that follows changes of objects and of readings, instead of reading all objects again.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <type_traits>
#include <utility>

#include "kube/well_known_labels.h"
#include "operator/snapshot/pass.h"
#include "operator/snapshot/pod_node.h"

namespace capstan::op {

/// Builds a snapshot from the last one. Only rows that depend on changed objects are made again.
/// @return none if all objects have to be read
std::optional<SnapshotBuilder::Output> SnapshotBuilder::follow(const ClusterView& view, const Readings& readings,
                                                               Instant at) {
  // A row with a time stamp that is later than our clock changes as time passes, even if its object does not.
  if (state_ == nullptr || state_->has_future_objects || at < last_.at) return std::nullopt;
  std::optional<ViewChanges> changes = changes_between(state_->view, view);
  if (!changes || !state_->holders.can_follow(*changes) || !state_->queues.can_follow(view)) return std::nullopt;
  // This copy keeps the old objects alive, because replicas point to them until their rows are made again.
  const ClusterView before = state_->view;
  state_->set_view(view);
  std::optional<TargetList> list;
  if (changes->targets) list = list_targets();
  if (list && !adds_targets_last(*list)) return std::nullopt;
  Pass pass{.at = at};
  const GpuHolders::Changes held = state_->holders.follow(*changes, view);
  add_described_nodes(held.described, *changes);
  follow_mixed_gangs(*changes);
  follow_nodes(pass, *changes);
  follow_workloads(changes->workloads);
  if (list) follow_targets(pass, *list, changes->scalers);
  if (changes->queues) state_->queues.follow(view);
  follow_groups(changes->groups);
  for (const PodChange& change : changes->pods) set_pod(change.row, change.after);
  follow_anti_affinity();
  for (const kube::RowId row : held.pods) state_->replicas.touch_pod(row);
  for (const kube::RowId row : std::exchange(state_->future_pods, {})) state_->replicas.touch_pod(row);

  pass.touches_rows = pass.touches_rows || changes->queues || state_->replicas.any_touched() || !held.holders.empty();
  const bool has_new_readings = !readings.is_copy_of(state_->readings);
  state_->readings = readings;
  if (pass.touches_rows) {
    settle_targets(pass);
    if (list) link_services(list->roles);
    for (const model::ServiceId id : pass.gone_services) catalog_.clear_service(id);
    settle_other_gangs(pass);
    read_other_holders(pass, nodes_of_changed_holders(pass, held.holders));
    clamp_moments(pass);
    catalog_.set_queues(state_->queues.rows());
    finish_eligibility(pass);
    list_serving_pods();
  }
  if (has_new_readings) follow_readings(pass);
  return publish(pass);
}

/// Adds the nodes whose GPUs are described otherwise than before to the changed nodes.
void SnapshotBuilder::add_described_nodes(const std::set<std::string>& described, ViewChanges& changes) const {
  std::vector<kube::RowId> rows;
  for (const std::string& name : described) {
    const auto known = state_->nodes.find(name);
    if (known != state_->nodes.end()) rows.push_back(known->second.row);
  }
  add_nodes(rows, changes);
}

/// Counts the changed pods in their gangs. When the first mixed gang (`MixedGangs`) appears or the last one is gone,
/// adds the nodes without GPUs to the changed nodes.
void SnapshotBuilder::follow_mixed_gangs(ViewChanges& changes) {
  MixedGangs& gangs = state_->mixed_gangs;
  for (const PodChange& change : changes.pods) {
    if (change.before != nullptr && !change.status_alone) gangs.remove(*change.before, *state_->fleet);
  }
  for (const PodChange& change : changes.pods) {
    if (change.after != nullptr && !change.status_alone) gangs.add(*change.after, *state_->fleet);
  }
  const auto is_real = [](const WorkloadChange& change) { return !change.status_alone; };
  if (changes.targets || std::ranges::any_of(changes.workloads, is_real)) {
    gangs.read_templates(state_->view.leader_worker_sets, *state_->fleet);
  }
  if (gangs.any() == state_->shows_nodes_without_gpus) return;
  state_->shows_nodes_without_gpus = gangs.any();
  std::vector<kube::RowId> rows;
  for (const auto& [name, known] : state_->nodes) {
    if (!known.gpu.valid()) rows.push_back(known.row);
  }
  add_nodes(rows, changes);
}

/// Adds nodes to the changed nodes although their objects have not changed.
void SnapshotBuilder::add_nodes(const std::vector<kube::RowId>& rows, ViewChanges& changes) const {
  if (rows.empty()) return;
  std::set<kube::RowId> changed;
  for (const NodeChange& change : changes.nodes) changed.insert(change.row);
  for (const kube::RowId row : rows) {
    if (changed.contains(row)) continue;
    const kube::Node* node = state_->view.nodes.rows.at(row).get();
    changes.nodes.push_back({row, node, node});
  }
  std::ranges::sort(changes.nodes, {}, &NodeChange::row);
}

/// Follows changes of nodes, NodeClaims and NodePools. The pods on the nodes are touched.
void SnapshotBuilder::follow_nodes(Pass& pass, const ViewChanges& changes) {
  if (changes.nodes.empty() && !changes.claims && !changes.pools) return;
  pass.touches_rows = true;
  const auto keys_of = [](const auto& map) {
    std::set<std::remove_cvref_t<decltype(map.begin()->first)>> keys;
    for (const auto& [key, count] : map) keys.insert(key);
    return keys;
  };
  const auto zones = keys_of(state_->zones);
  const auto node_gpus = keys_of(state_->node_gpus);
  const auto sizes = [&] {
    std::vector<NodeSize> known;
    for (const auto& type : state_->fleet->instance_types) known.push_back(state_->node_sizes.largest(type));
    return known;
  };
  const std::vector<NodeSize> sizes_before = sizes();
  const auto kinds = eligibility_.known_kinds();
  for (const NodeChange& change : changes.nodes) {
    if (change.before != nullptr) forget_node(pass, change.row, *change.before);
  }
  for (const NodeChange& change : changes.nodes) {
    if (change.after != nullptr) read_node(pass, change.row, *change.after);
  }
  for (const NodeChange& change : changes.nodes) {
    for (const kube::Node* node : {change.before, change.after}) {
      if (node == nullptr) continue;
      for (const kube::RowId row : eligibility_.pods_on(node->meta.name)) state_->replicas.touch_pod(row);
    }
  }
  if (changes.pools || keys_of(state_->zones) != zones || sizes() != sizes_before) read_pools();
  if (changes.claims || !changes.nodes.empty()) {
    read_starting_nodes_again(pass);
    last_.nodes.for_each([&](model::NodeId id, const model::Node& node) {
      if (!node.claim.valid() || pass.old_nodes.contains(id)) return;
      node_row(pass, id).claim = {};
      node_row(pass, id).is_foreign = true;
    });
    read_claims(pass);
  }
  if (keys_of(state_->node_gpus) != node_gpus) {  // a service that states no GPU kind takes the cluster's only kind
    for (std::uint32_t t = 0; t < state_->replicas.targets().size(); ++t) state_->replicas.touch_target(t);
  }
  touch_kinds(kinds);
}

void SnapshotBuilder::forget_node(Pass& pass, kube::RowId at, const kube::Node& node) {
  const auto take_from = [](auto& counts, const auto& key) {
    const auto found = counts.find(key);
    if (--found->second == 0) counts.erase(found);
  };
  if (const std::string* zone = node.meta.labels.find(kube::labels::kZone)) take_from(state_->zones, *zone);
  const auto found = state_->nodes.find(node.meta.name);
  const State::KnownNode seen = found->second;
  state_->nodes.erase(found);
  eligibility_.set_labels(node.meta.name, nullptr);
  if (!seen.id.valid()) return;
  if (seen.gpu.valid()) {
    take_from(state_->node_gpus, seen.gpu);
    state_->node_sizes.remove(node);
  }
  pass.old_nodes.insert(seen.id);
  eligibility_.remove(at, node);
}

/// Reads again the nodes that had not started, because their claims may now say that they have.
void SnapshotBuilder::read_starting_nodes_again(Pass& pass) {
  std::vector<kube::RowId> starting;
  for (const auto& [name, seen] : state_->nodes) {
    if (!seen.id.valid() || pass.old_nodes.contains(seen.id) || pass.nodes.contains(seen.id)) continue;
    if (last_.nodes.at(seen.id).ready_at.is_never()) starting.push_back(seen.row);
  }
  for (const kube::RowId row : starting) {
    const kube::Node& node = *state_->view.nodes.rows.at(row);
    forget_node(pass, row, node);
    read_node(pass, row, node);
  }
}

/// Touches the services and gangs whose pods have another GPU kind than before, because nodes or pools have changed.
void SnapshotBuilder::touch_kinds(const std::map<model::PodClassId, model::GpuKindId>& before) {
  std::set<model::PodClassId> changed;
  for (const auto& [pods, kind] : eligibility_.known_kinds()) {
    const auto old = before.find(pods);
    if (old == before.end() || old->second != kind) changed.insert(pods);
  }
  if (changed.empty()) return;
  ReplicaTable& table = state_->replicas;
  for (std::uint32_t t = 0; t < table.targets().size(); ++t) {
    if (changed.contains(table.targets()[t].pod_class)) table.touch_target(t);
  }
  for (const auto& [key, replica] : table.other_gangs()) {
    const bool has_class = !replica.pod_classes.empty();
    if (has_class && changed.contains(replica.pod_classes.front())) table.touch_pod(replica.members.front());
  }
}

/// Follows changes of KAI PodGroups, which state the size, the topology and the queue of their pods' gang. Pods whose
/// own objects have changed are touched later.
void SnapshotBuilder::follow_groups(const std::vector<GroupChange>& changes) {
  for (const GroupChange& change : changes) {
    if (change.before == nullptr) continue;
    state_->remove_group(*change.before);
    state_->queues.remove_group(*change.before);
  }
  for (const GroupChange& change : changes) {
    if (change.after == nullptr) continue;
    state_->add_group(*change.after);
    state_->queues.add_group(*change.after);
  }
  for (const GroupChange& change : changes) {
    for (const kube::KaiPodGroup* group : {change.before, change.after}) {
      if (group != nullptr) state_->replicas.touch_group(group->meta.key());
    }
  }
}

/// Replaces the workloads of targets by their new versions, and touches the targets that depend on the change.
void SnapshotBuilder::follow_workloads(const std::vector<WorkloadChange>& changes) {
  if (changes.empty()) return;
  std::map<const kube::Workload*, const WorkloadChange*> by_old;
  for (const WorkloadChange& change : changes) by_old[change.before] = &change;
  std::vector<Target>& targets = state_->replicas.targets();
  for (std::uint32_t t = 0; t < targets.size(); ++t) {
    const auto found = by_old.find(targets[t].workload);
    if (found == by_old.end()) continue;
    targets[t].workload = found->second->after;
    if (found->second->has_other_template) release_classes(targets[t]);
    if (!found->second->status_alone) state_->replicas.touch_target(t);
  }
}

/// Updates the replicas and the free resources of the node after a change of a pod. A null pod empties the row.
void SnapshotBuilder::set_pod(kube::RowId row, const kube::Pod* pod) {
  const bool is_alive = pod != nullptr && !pod->over();
  const std::string node = is_alive ? node_held_by(*pod, *state_->fleet) : std::string();
  const std::string old_node = state_->replicas.set_pod(row, is_alive ? pod : nullptr, node);
  if (!old_node.empty()) eligibility_.remove_pod(old_node, row);
  if (node.empty()) return;
  // Most pods have no rules, so the node is not searched for them.
  const auto known = pod->spec.anti_affinity.empty() ? state_->nodes.end() : state_->nodes.find(node);
  const bool exists = known != state_->nodes.end();
  eligibility_.add_pod(node, row, *pod, exists ? state_->view.nodes.rows.at(known->second.row).get() : nullptr);
}

/// Touches the waiting gangs and the templates in the namespaces for which a rule of required anti-affinity has
/// appeared or is gone. Their pods may have other classes now.
void SnapshotBuilder::follow_anti_affinity() {
  const auto changed = eligibility_.take_changed_namespaces();
  if (changed.empty()) return;
  const auto concerns = [&](const std::string& ns) { return changed.contains("") || changed.contains(ns); };
  ReplicaTable& table = state_->replicas;
  const auto touch = [&](const Replica& replica) {
    if (!replica.pod_classes.empty() && !replica.members.empty()) table.touch_pod(replica.members.front());
  };
  for (std::uint32_t t = 0; t < table.targets().size(); ++t) {
    Target& target = table.targets()[t];
    if (target.workload == nullptr || !concerns(target.workload->meta.ns)) continue;
    release_classes(target);
    table.touch_target(t);
    for (const auto& [key, replica] : target.replicas) touch(replica);
  }
  for (const auto& [key, replica] : table.other_gangs()) {
    if (concerns(key.ns)) touch(replica);
  }
}

/// Sets the signals of the replicas whose rows the pass has not made.
void SnapshotBuilder::follow_readings(Pass& pass) const {
  const auto follow = [&](const Replica& replica) {
    if (!replica.gang.valid() || pass.signals.contains(replica.gang)) return;
    const model::ReplicaSignals& signals = state_->readings.signals_of(replica.group.pods.front()->meta.uid);
    if (last_.signals_of(replica.gang) != signals) pass.signals[replica.gang] = signals;
  };
  for (const Target& target : state_->replicas.targets()) {
    for (const auto& [key, replica] : target.replicas) follow(replica);
  }
  for (const auto& [key, replica] : state_->replicas.other_gangs()) follow(replica);
}

/// Lists the replicas that are scraped, in the order of their targets.
void SnapshotBuilder::list_serving_pods() {
  std::vector<ServingPod> serving;
  for (const Target& target : state_->replicas.targets()) {
    for (const kube::Pod* pod : target.scraped) serving.push_back({target.service, pod});
  }
  state_->serving = std::make_shared<const std::vector<ServingPod>>(std::move(serving));
}

}  // namespace capstan::op
