#include "control/guards.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <variant>
#include <vector>

#include "decide/place/queue_budget.h"
#include "decide/provision/node_account.h"

namespace capstan::control {
namespace {

bool leaves_gang_partial(const model::BindPods& bind, const model::Snapshot& snapshot) {
  const model::Gang* gang = snapshot.gangs.find(bind.gang);
  if (gang == nullptr) return false;
  return std::ranges::any_of(gang->pods, [&](model::PodId id) {
    const model::Pod* pod = snapshot.pods.find(id);
    const bool bound_now =
        std::ranges::any_of(bind.bindings, [&](const model::BindPods::Binding& b) { return b.pod == id; });
    return pod != nullptr && !pod->node.valid() && !bound_now;
  });
}

/// Returns true if a ready replica of the service has no usable reading of one of the signals.
bool has_silent_replica(model::ServiceId service, const model::Snapshot& snapshot, const fleet::Index& index,
                        std::span<const model::SignalField> needed) {
  const auto gangs = index.gangs_by_service.find(service);
  if (gangs == index.gangs_by_service.end()) return false;
  return std::ranges::any_of(gangs->second, [&](model::GangId id) {
    const model::Gang& gang = snapshot.gangs.at(id);
    if (gang.phase != model::Gang::Phase::ready) return false;
    const model::ReplicaSignals& signals = snapshot.signals_of(id);
    return std::ranges::any_of(needed, [&](model::SignalField field) { return !(signals.*field).usable(); });
  });
}

/// Returns the service that the action lowers; empty if it lowers none, or if a person stated the count.
std::optional<model::ServiceId> lowered_service(const model::Action& action, const model::Snapshot& snapshot,
                                                const InFlight& in_flight) {
  if (const auto* convert = std::get_if<model::ConvertReplica>(&action.effect)) return convert->from;
  const auto* set = std::get_if<model::SetReplicas>(&action.effect);
  const model::ServiceState* state = set == nullptr ? nullptr : snapshot.services.find(set->service);
  if (state == nullptr || set->is_stated) return std::nullopt;
  const ReplicaCount from = in_flight.requested_replicas(set->service).value_or(state->desired_replicas);
  return set->replicas < from ? std::optional(set->service) : std::nullopt;
}

std::vector<model::PodId> pods_of(const model::BindPods& bind) {
  std::vector<model::PodId> pods;
  for (const model::BindPods::Binding& binding : bind.bindings) pods.push_back(binding.pod);
  return pods;
}

/// Returns the account of nodes before the launches of this plan.
decide::provision::NodeAccount nodes_before(const model::Plan& plan, const model::Snapshot& snapshot,
                                            const fleet::Index& index, const decide::provision::Memory& bought) {
  decide::provision::Memory before;
  before.pending_launches = bought.pending_launches;
  for (const model::Action& action : plan.actions) {
    if (const auto* launch = std::get_if<model::LaunchNodes>(&action.effect)) forget(before, *launch);
  }
  return {index, snapshot, before.pending_launches};
}

/// Returns the budget of the queues without the pods that the plan binds.
decide::place::QueueBudget queues_before(const model::Plan& plan, const model::Snapshot& snapshot,
                                         const fleet::Index& index, const decide::place::Memory& placed) {
  decide::place::QueueBudget budget(snapshot, index);
  if (snapshot.catalog->queues.empty()) return budget;
  std::set<model::PodId> planned;
  for (const model::Action& action : plan.actions) {
    const auto* bind = std::get_if<model::BindPods>(&action.effect);
    if (bind != nullptr) std::ranges::copy(pods_of(*bind), std::inserter(planned, planned.end()));
  }
  for (const decide::place::Memory::AssumedBinding& assumed : placed.assumed) {
    if (!planned.contains(assumed.pod)) budget.place({&assumed.pod, 1});
  }
  return budget;
}

/// Checks the actions of one plan, in order, against the limits.
class Limits {
 public:
  Limits(const model::Plan& plan, const model::Snapshot& snapshot, const fleet::Index& index,
         const decide::place::Memory& placed, const decide::provision::Memory& bought)
      : plan_(plan), snapshot_(snapshot), index_(index), placed_(placed), bought_(bought) {}

  /// Counts the action and returns true, or returns false if it would exceed a limit.
  bool admits(const model::Action& action) {
    return std::visit([&](const auto& what) { return admits_one(what); }, action.effect);
  }

 private:
  bool admits_one(const model::SetReplicas& set) {
    return set.replicas <= snapshot_.catalog->service(set.service).max_replicas;
  }
  bool admits_one(const model::ConvertReplica& convert) {
    const model::ServiceState* state = snapshot_.services.find(convert.to);
    const ReplicaCount requested = (state == nullptr ? 0 : state->desired_replicas) + joining_[convert.to];
    if (requested >= snapshot_.catalog->service(convert.to).max_replicas) return false;
    ++joining_[convert.to];
    return true;
  }
  bool admits_one(const model::LaunchNodes& launch) {
    if (!nodes_) nodes_.emplace(nodes_before(plan_, snapshot_, index_, bought_));
    if (nodes_->refusal(launch.pool, launch.offering, launch.count)) return false;
    nodes_->add(launch.pool, launch.offering, launch.count);
    return true;
  }
  bool admits_one(const model::BindPods& bind) {
    const std::vector<model::PodId> pods = pods_of(bind);
    if (!queues_) queues_.emplace(queues_before(plan_, snapshot_, index_, placed_));
    if (queues_->refusal_of(queues_->demand_of(pods))) return false;
    queues_->place(pods);
    return true;
  }
  bool admits_one(const auto&) { return true; }

  const model::Plan& plan_;
  const model::Snapshot& snapshot_;
  const fleet::Index& index_;
  const decide::place::Memory& placed_;
  const decide::provision::Memory& bought_;
  std::optional<decide::provision::NodeAccount> nodes_;  ///< created for the first launch
  std::optional<decide::place::QueueBudget> queues_;     ///< created for the first binding
  std::map<model::ServiceId, ReplicaCount> joining_;     ///< replicas that admitted conversions add to each service
};

}  // namespace

std::int64_t count_scale_downs_without_data(const model::Plan& plan, const model::Snapshot& snapshot,
                                            const fleet::Index& index, const InFlight& in_flight,
                                            const PolicyOf& policy_of) {
  return std::ranges::count_if(plan.actions, [&](const model::Action& action) {
    const std::optional<model::ServiceId> service = lowered_service(action, snapshot, in_flight);
    if (!service) return false;
    std::vector<model::SignalField> needed = decide::scale::needed_signals(policy_of(*service));
    if (needed.empty()) needed = {&model::ReplicaSignals::waiting};
    return has_silent_replica(*service, snapshot, index, needed);
  });
}

std::vector<model::Action> guard(model::Plan& plan, const model::Snapshot& snapshot, const fleet::Index& index,
                                 const decide::place::Memory& placed, const decide::provision::Memory& bought,
                                 Violations& violations) {
  Limits limits(plan, snapshot, index, placed, bought);
  std::vector<bool> admitted;
  for (const model::Action& action : plan.actions) {
    admitted.push_back(limits.admits(action));
    if (!admitted.back()) {
      ++violations.limit_exceeded;
      continue;
    }
    const auto* bind = std::get_if<model::BindPods>(&action.effect);
    violations.partial_gang += bind != nullptr && leaves_gang_partial(*bind, snapshot) ? 1 : 0;
  }
  std::vector<model::Action> allowed;
  std::vector<model::Action> refused;
  for (std::size_t i = 0; i < admitted.size(); ++i) {
    (admitted[i] ? allowed : refused).push_back(std::move(plan.actions[i]));
  }
  plan.actions = std::move(allowed);
  return refused;
}

}  // namespace capstan::control
