#include "control/guards.h"

#include <algorithm>
#include <variant>
#include <vector>

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

bool lowers_blind(const model::SetReplicas& set, const model::Snapshot& snapshot, const decide::Index& index) {
  const model::ServiceState* state = snapshot.services.find(set.service);
  if (state == nullptr || set.replicas >= state->desired_replicas) return false;
  const auto gangs = index.gangs_by_service.find(set.service);
  if (gangs == index.gangs_by_service.end()) return false;
  return std::ranges::any_of(gangs->second, [&](model::GangId id) {
    const model::Gang& gang = snapshot.gangs.at(id);
    return gang.phase == model::Gang::Phase::ready && !gang.signals.waiting.usable();
  });
}

/// Nodes of the pool that were asked for and that no claim stands for yet. A claim answers the oldest launch of its
/// kind that was submitted before it was requested.
GpuCount unseen_gpus(model::PoolId pool, const model::Snapshot& snapshot, std::span<const InFlight::Entry> in_flight) {
  struct Launch {
    const model::LaunchNodes& what;
    Instant at;
    std::int64_t unseen;
  };
  std::vector<Launch> launches;
  for (const InFlight::Entry& entry : in_flight) {
    const auto* launch = std::get_if<model::LaunchNodes>(&entry.action.what);
    if (launch != nullptr && launch->pool == pool) launches.push_back({*launch, entry.submitted_at, launch->count});
  }
  if (launches.empty()) return 0;
  snapshot.claims.for_each([&](model::ClaimId, const model::Claim& claim) {
    const auto answered = std::ranges::find_if(launches, [&](const Launch& launch) {
      return launch.unseen > 0 && claim.pool == pool && claim.offering == launch.what.offering &&
             claim.within == launch.what.within && claim.requested_at >= launch.at;
    });
    if (answered != launches.end()) --answered->unseen;
  });
  GpuCount gpus = 0;
  for (const Launch& launch : launches) gpus += launch.unseen * snapshot.catalog->offering(launch.what.offering).gpus;
  return gpus;
}

/// What the pool has and what it will have, in transit and in flight.
GpuCount pool_gpus(model::PoolId pool, const model::Snapshot& snapshot, const decide::Index& index,
                   std::span<const InFlight::Entry> in_flight) {
  const auto sum = index.pools.find(pool);
  GpuCount gpus = unseen_gpus(pool, snapshot, in_flight) + (sum == index.pools.end() ? 0 : sum->second.gpus);
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
  const auto* launch = std::get_if<model::LaunchNodes>(&action.what);
  if (launch == nullptr) return false;
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

}  // namespace

void guard(model::Plan& plan, const model::Snapshot& snapshot, const decide::Index& index,
           std::span<const InFlight::Entry> in_flight, Violations& violations) {
  model::Plan allowed;
  allowed.kept = std::move(plan.kept);
  for (model::Action& action : plan.actions) {
    if (exceeds_limit(action, snapshot, index, in_flight, allowed)) {
      ++violations.limit_exceeded;
      continue;
    }
    if (const auto* bind = std::get_if<model::BindPods>(&action.what)) {
      violations.partial_gang += leaves_gang_partial(*bind, snapshot) ? 1 : 0;
    } else if (const auto* set = std::get_if<model::SetReplicas>(&action.what)) {
      violations.lowered_blind += lowers_blind(*set, snapshot, index) ? 1 : 0;
    }
    allowed.actions.push_back(std::move(action));
  }
  plan = std::move(allowed);
}

}  // namespace capstan::control
