#include "operator/snapshot/replica_table.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/known_row.h"
#include "operator/snapshot/waiting_gangs.h"

namespace capstan::op {
namespace {

/// Returns the key of a label in a namespace. With an empty label, it is the key of all pods of the namespace.
std::string selecting_key(std::string_view ns, std::string_view label, std::string_view value) {
  return std::string(ns) + '\n' + std::string(label) + '\n' + std::string(value);  // no such text has a line break
}

void insert_sorted(std::vector<kube::RowId>& rows, kube::RowId row) {
  rows.insert(std::ranges::lower_bound(rows, row), row);
}

}  // namespace

void ReplicaTable::add(Target target) {
  targets_.emplace_back();
  replace(static_cast<std::uint32_t>(targets_.size() - 1), std::move(target));
}

void ReplicaTable::replace(std::uint32_t at, Target target) {
  targets_[at] = std::move(target);
  touch_target(at);
  if (auto selecting = selecting_workload(at)) selecting_[selecting->first].push_back(std::move(selecting->second));
}

/// Returns how the workload of a target selects pods, and a key that all of these pods have. Returns none if it selects
/// none.
std::optional<std::pair<std::string, ReplicaTable::SelectingWorkload>> ReplicaTable::selecting_workload(
    std::uint32_t target) const {
  const kube::Workload* workload = targets_[target].workload;
  if (workload == nullptr) return std::nullopt;
  const std::string& ns = workload->meta.ns;
  if (workload->kind == "LeaderWorkerSet") {
    return std::pair(selecting_key(ns, kSetNameLabel, workload->meta.name), SelectingWorkload{target, true, {}});
  }
  const kube::Selector& selector = workload->selector;
  if (!selector.present) return std::nullopt;
  const auto& labels = selector.labels.entries();
  const bool any_pod = labels.empty();
  return std::pair(
      any_pod ? selecting_key(ns, {}, {}) : selecting_key(ns, labels.begin()->first, labels.begin()->second),
      SelectingWorkload{target, false, selector});
}

/// Returns the replica of the workload's target to which a pod belongs, or none. The caller has checked that the pod
/// has the namespace and the label under which `selecting_` lists the workload.
std::optional<ReplicaTable::Pod::Place> ReplicaTable::place_in(const SelectingWorkload& workload, kube::RowId row,
                                                               const kube::Pod& pod) {
  if (!workload.is_set) {
    return workload.selector.matches(pod.meta.labels) ? std::optional(Pod::Place{workload.target, row.value})
                                                      : std::nullopt;
  }
  const std::optional<std::uint32_t> index = group_index_of(pod);
  return index ? std::optional(Pod::Place{workload.target, *index}) : std::nullopt;
}

void ReplicaTable::release_pods(std::uint32_t target) {
  for (auto& [key, replica] : targets_[target].replicas) {
    for (const kube::RowId row : std::exchange(replica.members, {})) {
      std::erase_if(pods_[row.value].places, [&](const Pod::Place& place) { return place.target == target; });
      touched_rows_.insert(row);
    }
  }
  touched_.erase(target);
  const auto selecting = selecting_workload(target);
  const auto found = selecting ? selecting_.find(selecting->first) : selecting_.end();
  if (found == selecting_.end()) return;
  std::erase_if(found->second, [&](const SelectingWorkload& workload) { return workload.target == target; });
  if (found->second.empty()) selecting_.erase(found);
}

void ReplicaTable::take_pods(std::uint32_t target) {
  const auto selecting = selecting_workload(target);
  if (!selecting) return;
  const kube::Meta& meta = targets_[target].workload->meta;
  const auto& [key, workload] = *selecting;
  for (std::uint32_t row = 0; row < pods_.size(); ++row) {
    Pod& entry = pods_[row];
    if (entry.pod == nullptr || entry.pod->meta.ns != meta.ns) continue;
    if (workload.is_set && entry.pod->meta.labels.get(kSetNameLabel) != meta.name) continue;
    const std::optional<Pod::Place> place = place_in(workload, {row}, *entry.pod);
    if (!place) continue;
    entry.places.insert(std::ranges::lower_bound(entry.places, *place), *place);
    insert_sorted(targets_[target].replicas[place->key].members, {row});
    touched_[target].insert(place->key);
    touched_rows_.insert({row});
  }
}

std::vector<ReplicaTable::Pod::Place> ReplicaTable::places_of(kube::RowId row, const kube::Pod& pod) const {
  std::vector<Pod::Place> places;
  const auto add_all = [&](const std::string& key) {
    const auto found = selecting_.find(key);
    if (found == selecting_.end()) return;
    for (const SelectingWorkload& workload : found->second) {
      if (const std::optional<Pod::Place> place = place_in(workload, row, pod)) places.push_back(*place);
    }
  };
  add_all(selecting_key(pod.meta.ns, {}, {}));
  for (const auto& [label, value] : pod.meta.labels.entries()) add_all(selecting_key(pod.meta.ns, label, value));
  std::ranges::sort(places);
  return places;
}

std::string ReplicaTable::set_pod(kube::RowId row, const kube::Pod* pod, std::string node) {
  if (row.value >= pods_.size()) pods_.resize(row.value + 1);
  Pod& entry = pods_[row.value];
  for (const Pod::Place& place : entry.places) {
    std::erase(known_row(targets_[place.target].replicas, place.key).members, row);
    touched_[place.target].insert(place.key);
  }
  entry.places.clear();
  set_group(row, entry.pod, pod);
  entry.pod = pod;
  std::swap(entry.node, node);
  if (pod != nullptr) entry.places = places_of(row, *pod);
  for (const Pod::Place& place : entry.places) {
    insert_sorted(targets_[place.target].replicas[place.key].members, row);
    touched_[place.target].insert(place.key);
  }
  touched_rows_.insert(row);
  return node;
}

void ReplicaTable::set_group(kube::RowId row, const kube::Pod* before, const kube::Pod* after) {
  const std::string old_group = before != nullptr ? kai_group_of(*before) : std::string();
  const std::string new_group = after != nullptr ? kai_group_of(*after) : std::string();
  if (old_group == new_group) return;
  if (const auto found = by_group_.find(old_group); found != by_group_.end()) {
    found->second.erase(row);
    if (found->second.empty()) by_group_.erase(found);
  }
  if (!new_group.empty()) by_group_[new_group].insert(row);
}

void ReplicaTable::touch_group(const std::string& group) {
  const auto found = by_group_.find(group);
  if (found == by_group_.end()) return;
  for (const kube::RowId row : found->second) touch_pod(row);
}

void ReplicaTable::set_other_gang(kube::RowId row, std::optional<OtherGangKey> key) {
  std::optional<OtherGangKey>& now = pods_[row.value].other_gang;
  if (now) std::erase(known_row(other_gangs_, *now).members, row);
  now = std::move(key);
  if (now) insert_sorted(other_gangs_[*now].members, row);
}

std::vector<const kube::Pod*> ReplicaTable::pods_of(const Replica& replica) const {
  std::vector<const kube::Pod*> pods;
  pods.reserve(replica.members.size());
  for (const kube::RowId row : replica.members) pods.push_back(pods_[row.value].pod);
  return pods;
}

void ReplicaTable::touch_pod(kube::RowId row, std::uint32_t first_target) {
  for (const Pod::Place& place : pods_[row.value].places) {
    if (place.target >= first_target) touched_[place.target].insert(place.key);
  }
  touched_rows_.insert(row);
}

std::optional<std::pair<std::uint32_t, std::set<ReplicaTable::Key>>> ReplicaTable::next_touched() {
  if (touched_.empty()) return std::nullopt;
  auto first = touched_.extract(touched_.begin());
  return std::pair(first.key(), std::move(first.mapped()));
}

void read_status(ReplicaTable::Replica& replica) {
  const PodGroup& group = replica.group;
  const model::Gang::Phase phase = phase_of(group);
  replica.is_starting = phase == model::Gang::Phase::starting;
  replica.start = start_of(group);
  replica.drains_first = phase == model::Gang::Phase::draining &&
                         std::ranges::none_of(group.pods, [](const kube::Pod* pod) { return pod->meta.terminating(); });
}

bool is_scraped(const PodGroup& group) {
  const model::Gang::Phase phase = phase_of(group);
  // A draining replica is scraped too, because only its signals show that it has no work left.
  return phase == model::Gang::Phase::ready ||
         (phase == model::Gang::Phase::draining && !group.pods.front()->meta.terminating());
}

}  // namespace capstan::op
