#include "control/guards.h"

#include <algorithm>
#include <variant>
#include <vector>

#include "decide/place/queue_budget.h"
#include "decide/provision/provision.h"

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

/// A replica of it serves and is silent.
bool is_blind(model::ServiceId service, const model::Snapshot& snapshot, const decide::Index& index) {
  const auto gangs = index.gangs_by_service.find(service);
  if (gangs == index.gangs_by_service.end()) return false;
  return std::ranges::any_of(gangs->second, [&](model::GangId id) {
    const model::Gang& gang = snapshot.gangs.at(id);
    return gang.phase == model::Gang::Phase::ready && !gang.signals.waiting.usable();
  });
}

bool lowers_blind(const model::Action& action, const model::Snapshot& snapshot, const decide::Index& index) {
  if (const auto* convert = std::get_if<model::ConvertReplica>(&action.what)) {
    return is_blind(convert->from, snapshot, index);
  }
  const auto* set = std::get_if<model::SetReplicas>(&action.what);
  const model::ServiceState* state = set == nullptr ? nullptr : snapshot.services.find(set->service);
  return state != nullptr && set->replicas < state->desired_replicas && is_blind(set->service, snapshot, index);
}

/// Would more replicas than it may have come to serve in the other role?
bool overfills(const model::ConvertReplica& convert, const model::Snapshot& snapshot, const model::Plan& before) {
  const model::ServiceState* state = snapshot.services.find(convert.to);
  const auto joins = [&](const model::Action& earlier) {
    const auto* other = std::get_if<model::ConvertReplica>(&earlier.what);
    return other != nullptr && other->to == convert.to;
  };
  const ReplicaCount there = state == nullptr ? 0 : state->desired_replicas;
  return there + std::ranges::count_if(before.actions, joins) >= snapshot.catalog->service(convert.to).max_replicas;
}

/// Nodes that were asked for and that no claim stands for yet, as launches of so many. A claim answers the oldest
/// launch of its kind that was submitted before it was requested.
std::vector<model::LaunchNodes> unseen_launches(const model::Snapshot& snapshot,
                                                std::span<const InFlight::Entry> in_flight) {
  std::vector<model::LaunchNodes> launches;  // `count`: those that are not seen
  std::vector<Instant> submitted;
  for (const InFlight::Entry& entry : in_flight) {
    const auto* launch = std::get_if<model::LaunchNodes>(&entry.action.what);
    if (launch == nullptr) continue;
    launches.push_back(*launch);
    submitted.push_back(entry.submitted_at);
  }
  if (launches.empty()) return launches;
  snapshot.claims.for_each([&](model::ClaimId, const model::Claim& claim) {
    for (std::size_t i = 0; i < launches.size(); ++i) {
      const model::LaunchNodes& launch = launches[i];
      const bool answered = launch.count > 0 && claim.pool == launch.pool && claim.offering == launch.offering &&
                            claim.within == launch.within && claim.requested_at >= submitted[i];
      if (!answered) continue;
      --launches[i].count;
      return;
    }
  });
  return launches;
}

/// Does the launch take the nodes of all pools above a limit of the fleet?
bool exceeds_fleet(const model::LaunchNodes& launch, const model::Snapshot& snapshot,
                   std::span<const InFlight::Entry> in_flight, const model::Plan& before) {
  const model::Catalog& catalog = *snapshot.catalog;
  const model::FleetLimits& limits = catalog.limits;
  if (limits == model::FleetLimits()) return false;
  GpuCount gpus = 0;
  std::int64_t nodes = 0;
  MicroUsd price;
  const auto add = [&](model::OfferingId offering, std::int64_t count) {
    gpus += count * catalog.offering(offering).gpus;
    nodes += count;
    price += catalog.offering(offering).price_per_hour * count;
  };
  snapshot.nodes.for_each([&](model::NodeId, const model::Node& node) {
    if (node.pool.valid()) add(node.offering, 1);
  });
  snapshot.claims.for_each([&](model::ClaimId, const model::Claim& claim) {
    if (decide::provision::in_transit(claim, snapshot)) add(claim.offering, 1);
  });
  for (const model::LaunchNodes& unseen : unseen_launches(snapshot, in_flight)) add(unseen.offering, unseen.count);
  for (const model::Action& earlier : before.actions) {
    if (const auto* other = std::get_if<model::LaunchNodes>(&earlier.what)) add(other->offering, other->count);
  }
  add(launch.offering, launch.count);
  return (limits.gpus && gpus > *limits.gpus) || (limits.nodes && nodes > *limits.nodes) ||
         (limits.price_per_hour && price > *limits.price_per_hour);
}

/// What the pool has and what it will have, in transit and in flight.
GpuCount pool_gpus(model::PoolId pool, const model::Snapshot& snapshot, const decide::Index& index,
                   std::span<const InFlight::Entry> in_flight) {
  const auto sum = index.pools.find(pool);
  GpuCount gpus = sum == index.pools.end() ? 0 : sum->second.gpus;
  for (const model::LaunchNodes& unseen : unseen_launches(snapshot, in_flight)) {
    if (unseen.pool == pool) gpus += unseen.count * snapshot.catalog->offering(unseen.offering).gpus;
  }
  snapshot.claims.for_each([&](model::ClaimId, const model::Claim& claim) {
    const bool counts = claim.pool == pool && decide::provision::in_transit(claim, snapshot);
    if (counts) gpus += snapshot.catalog->offering(claim.offering).gpus;
  });
  return gpus;
}

bool exceeds_limit(const model::Action& action, const model::Snapshot& snapshot, const decide::Index& index,
                   std::span<const InFlight::Entry> in_flight, const model::Plan& before) {
  if (const auto* set = std::get_if<model::SetReplicas>(&action.what)) {
    return set->replicas > snapshot.catalog->service(set->service).max_replicas;
  }
  if (const auto* convert = std::get_if<model::ConvertReplica>(&action.what)) {
    return overfills(*convert, snapshot, before);
  }
  const auto* launch = std::get_if<model::LaunchNodes>(&action.what);
  if (launch == nullptr) return false;
  if (exceeds_fleet(*launch, snapshot, in_flight, before)) return true;
  GpuCount gpus = pool_gpus(launch->pool, snapshot, index, in_flight);
  const auto add = [&](const model::LaunchNodes& more) {
    gpus += more.count * snapshot.catalog->offering(more.offering).gpus;
  };
  add(*launch);
  for (const model::Action& earlier : before.actions) {
    const auto* other = std::get_if<model::LaunchNodes>(&earlier.what);
    if (other != nullptr && other->pool == launch->pool) add(*other);
  }
  return gpus > snapshot.catalog->pool(launch->pool).gpu_limit;
}

std::vector<model::PodId> pods_of(const model::BindPods& bind) {
  std::vector<model::PodId> pods;
  for (const model::BindPods::Binding& binding : bind.bindings) pods.push_back(binding.pod);
  return pods;
}

/// What the queues hold, with the binds that are in flight.
decide::place::QueueBudget queue_budget(const model::Snapshot& snapshot, const decide::Index& index,
                                        std::span<const InFlight::Entry> in_flight) {
  decide::place::QueueBudget budget(snapshot, index);
  if (snapshot.catalog->queues.empty()) return budget;
  for (const InFlight::Entry& entry : in_flight) {
    if (const auto* bind = std::get_if<model::BindPods>(&entry.action.what)) budget.place(pods_of(*bind));
  }
  return budget;
}

}  // namespace

void guard(model::Plan& plan, const model::Snapshot& snapshot, const decide::Index& index,
           std::span<const InFlight::Entry> in_flight, Violations& violations) {
  model::Plan allowed;
  allowed.kept = std::move(plan.kept);
  decide::place::QueueBudget queues = queue_budget(snapshot, index, in_flight);
  for (model::Action& action : plan.actions) {
    const auto* bind = std::get_if<model::BindPods>(&action.what);
    const std::vector<model::PodId> pods = bind != nullptr ? pods_of(*bind) : std::vector<model::PodId>();
    const bool exceeds = bind != nullptr ? queues.refuses(queues.ask_of(pods)).has_value()
                                         : exceeds_limit(action, snapshot, index, in_flight, allowed);
    if (exceeds) {
      ++violations.limit_exceeded;
      continue;
    }
    if (bind != nullptr) {
      queues.place(pods);
      violations.partial_gang += leaves_gang_partial(*bind, snapshot) ? 1 : 0;
    } else {
      violations.lowered_blind += lowers_blind(action, snapshot, index) ? 1 : 0;
    }
    allowed.actions.push_back(std::move(action));
  }
  plan = std::move(allowed);
}

}  // namespace capstan::control
