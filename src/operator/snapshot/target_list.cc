// The part of SnapshotBuilder that finds the targets of all scalers, and follows changes of this list.
#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "operator/snapshot/pass.h"
#include "operator/view/competing_controllers.h"

namespace capstan::op {
namespace {

using ScalerRow = std::pair<kube::RowId, const InferenceScaler*>;

/// Returns the scalers from oldest to newest. If two have the same target, the older one gets it.
std::vector<ScalerRow> by_age(const kube::StoreSnapshot<InferenceScaler>& scalers) {
  std::vector<ScalerRow> sorted;
  scalers.for_each([&](kube::RowId row, const InferenceScaler& scaler) { sorted.emplace_back(row, &scaler); });
  std::ranges::sort(
      sorted, {}, [](const ScalerRow& row) { return std::tuple(row.second->meta.created_at, row.second->meta.key()); });
  return sorted;
}

}  // namespace

/// Finds the targets of all scalers in the order in which they take pods, and gives their services ids.
SnapshotBuilder::TargetList SnapshotBuilder::list_targets() {
  const Targets targets(state_->view);
  const CompetingControllers competitors(state_->view);
  TargetList list;
  std::set<model::ServiceId> listed;
  std::set<const kube::Workload*> decided;  // the first target of a workload decides its replicas
  for (const auto& [row, scaler] : by_age(state_->view.scalers)) {
    Roles& roles = list.roles.emplace_back(Roles{scaler});
    std::size_t position = 0;
    for (const ScalerTarget& target : targets_of(*scaler)) {
      const kube::TargetRef& ref = target.variant->target;
      ServiceOrigin origin{.ns = scaler->meta.ns,
                           .scaler = scaler->meta.name,
                           .scaler_uid = scaler->meta.uid,
                           .target = ref,
                           .position = position++,
                           .mode = std::min(state_->fleet->replicas, scaler->mode)};
      const bool has_competitor = !competitors.find(scaler->meta.ns, ref).empty();
      if (has_competitor || !scaler->fault.empty()) origin.mode = std::min(origin.mode, Mode::shadow);
      const model::ServiceId id =
          services_.id_of({"InferenceScaler", origin.ns, origin.scaler, origin.key()}, target.service_name);
      std::vector<model::ServiceId>& same = roles.services[target.role->role];
      if (std::ranges::find(same, id) == same.end()) same.push_back(id);
      if (!listed.insert(id).second) continue;  // the scaler names it twice
      const kube::Workload* workload = targets.find(scaler->meta.ns, ref);
      const bool is_decided = workload != nullptr && origin.mode != Mode::off && decided.insert(workload).second;
      list.targets.push_back(
          {{.service = id, .scaler = row, .position = origin.position, .workload = workload, .has_gangs = is_decided},
           std::move(origin),
           policy_of(*scaler)});
    }
  }
  return list;
}

/// Records the scaler and the policy of each service.
/// @return services that are gone
std::vector<model::ServiceId> SnapshotBuilder::set_origins(const TargetList& list) {
  const std::map<model::ServiceId, ServiceOrigin> before = std::exchange(origins_, {});
  for (const ListedTarget& listed : list.targets) {
    const model::ServiceId id = listed.target.service;
    policies_.resize(std::max<std::size_t>(policies_.size(), id.value + 1));
    policies_[id.value] = listed.policy;
    ServiceOrigin& origin = origins_.emplace(id, listed.origin).first->second;
    if (const auto old = before.find(id); old != before.end()) origin.gpu_known = old->second.gpu_known;
  }
  std::vector<model::ServiceId> gone;
  for (const auto& [id, origin] : before) {
    if (origins_.contains(id)) continue;
    gone.push_back(id);
    policies_[id.value] = {};
  }
  return gone;
}

/// Returns true if the list has the targets of the last pass in their order, possibly without some of them, followed by
/// new targets. A target that comes before others can take pods from them, and its service must get its id before
/// theirs.
bool SnapshotBuilder::adds_targets_last(const TargetList& list) const {
  std::vector<model::ServiceId> known;
  std::set<model::ServiceId> listed;
  for (const ListedTarget& entry : list.targets) listed.insert(entry.target.service);
  for (const Target& target : state_->replicas.targets()) {
    if (listed.contains(target.service)) known.push_back(target.service);
  }
  return known.size() <= list.targets.size() &&
         std::ranges::equal(known, std::span(list.targets).first(known.size()), {}, {},
                            [](const ListedTarget& entry) { return entry.target.service; });
}

/// Follows changes of scalers, of autoscalers, and of which workloads exist. A target whose workload is another object
/// starts anew.
/// @param list  the targets after the changes; `adds_targets_last` holds
void SnapshotBuilder::follow_targets(Pass& pass, const TargetList& list, const std::set<kube::RowId>& changed_scalers) {
  pass.touches_rows = true;
  ReplicaTable& table = state_->replicas;
  std::map<model::ServiceId, std::uint32_t> known;
  for (std::uint32_t t = 0; t < table.targets().size(); ++t) {
    if (table.targets()[t].service.valid()) known.emplace(table.targets()[t].service, t);
  }
  const std::map<model::ServiceId, ServiceOrigin> before = origins_;
  pass.gone_services = set_origins(list);
  for (const model::ServiceId id : pass.gone_services) {
    pass.old_services.insert(id);
    empty_target(pass, known.find(id)->second);
  }
  for (const ListedTarget& listed : list.targets) {
    const auto at = known.find(listed.target.service);
    if (at == known.end()) {
      table.add(listed.target);
      table.take_pods(static_cast<std::uint32_t>(table.targets().size() - 1));
      continue;
    }
    Target& target = table.targets()[at->second];
    if (target.workload != listed.target.workload || target.has_gangs != listed.target.has_gangs) {
      if (target.has_gangs) pass.old_services.insert(target.service);
      empty_target(pass, at->second);
      table.replace(at->second, listed.target);
      table.take_pods(at->second);
      continue;
    }
    const bool is_other_scaler = target.scaler != listed.target.scaler || target.position != listed.target.position;
    target.scaler = listed.target.scaler;
    target.position = listed.target.position;
    if (is_other_scaler || changed_scalers.contains(target.scaler) ||
        before.find(target.service)->second.mode != listed.origin.mode) {
      table.touch_target(at->second);
    }
  }
}

/// Takes the pods away from a target, and ends its replicas. Its workload may be gone from the view.
void SnapshotBuilder::empty_target(Pass& pass, std::uint32_t at) {
  Target& target = state_->replicas.targets()[at];
  state_->replicas.release_pods(at);
  ReplicaKeys keys;
  for (const auto& [key, replica] : target.replicas) keys.insert(key);
  for (auto& [key, replica] : target.replicas) regroup(target, replica, key);
  if (target.has_gangs) set_gangs(pass, at, keys);
  release_classes(target);
  state_->queues.release(catalog_.workload_of(target.service).queue);
  catalog_.forget_queue(target.service);
  target = {};
}

}  // namespace capstan::op
