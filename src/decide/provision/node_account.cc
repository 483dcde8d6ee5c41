#include "decide/provision/node_account.h"

#include "base/assert.h"
#include "decide/place/coming_nodes.h"

namespace capstan::decide::provision {

using model::OfferingId;
using model::PoolId;
using model::Reason;
using model::ReasonCode;

NodeAccount::NodeAccount(const Index& index, const model::Snapshot& snapshot,
                         std::span<const Memory::PendingLaunch> asked)
    : catalog_(*snapshot.catalog) {
  for (const auto& [pool, sum] : index.pools) pools_[pool] = {sum.gpus, sum.nodes};
  // The offering of each node is needed only to check the limits of the fleet.
  if (catalog_.limits != model::FleetLimits()) {
    snapshot.nodes.for_each([&](model::NodeId, const model::Node& node) {
      if (node.pool.valid()) add_to_fleet(node.offering, 1);
    });
  }
  snapshot.claims.for_each([&](model::ClaimId, const model::Claim& claim) {
    if (place::in_transit(claim, snapshot)) add(claim.pool, claim.offering, 1);
  });
  for (const Memory::PendingLaunch& launch : asked) add(launch.pool, launch.offering, launch.count);
}

void NodeAccount::add(PoolId pool, OfferingId offering, std::int64_t count) {
  Sum& sum = pools_[pool];
  sum.gpus += count * catalog_.offering(offering).gpus;
  sum.nodes += count;
  add_to_fleet(offering, count);
}

void NodeAccount::add_to_fleet(OfferingId id, std::int64_t count) {
  const model::Offering& offering = catalog_.offering(id);
  fleet_.gpus += count * offering.gpus;
  fleet_.nodes += count;
  fleet_price_per_hour_ += offering.price_per_hour * count;
}

NodeAccount::Sum NodeAccount::of(PoolId pool) const {
  const auto found = pools_.find(pool);
  return found == pools_.end() ? Sum{} : found->second;
}

std::int64_t NodeAccount::nodes_of(PoolId pool) const { return of(pool).nodes; }

NodeAccount::Limit NodeAccount::exceeded(PoolId pool, OfferingId id, std::int64_t count) const {
  const model::Offering& offering = catalog_.offering(id);
  const model::FleetLimits& limits = catalog_.limits;
  const GpuCount gpus = count * offering.gpus;
  if (of(pool).gpus + gpus > catalog_.pool(pool).gpu_limit) return Limit::pool_gpus;
  if (limits.gpus && fleet_.gpus + gpus > *limits.gpus) return Limit::fleet_gpus;
  if (limits.nodes && fleet_.nodes + count > *limits.nodes) return Limit::fleet_nodes;
  const MicroUsd price = offering.price_per_hour * count;
  if (limits.price_per_hour && fleet_price_per_hour_ + price > *limits.price_per_hour) return Limit::fleet_price;
  return Limit::none;
}

Reason NodeAccount::reason(Limit limit, PoolId pool, OfferingId id, std::int64_t count) const {
  const model::Offering& offering = catalog_.offering(id);
  const model::FleetLimits& limits = catalog_.limits;
  const GpuCount gpus = count * offering.gpus;
  switch (limit) {
    case Limit::pool_gpus:
      return {ReasonCode::pool_limit, {gpus, catalog_.pool(pool).gpu_limit, of(pool).gpus, pool.value}};
    case Limit::fleet_gpus:
      return {ReasonCode::fleet_gpu_limit, {gpus, *limits.gpus, fleet_.gpus}};
    case Limit::fleet_nodes:
      return {ReasonCode::fleet_node_limit, {count, *limits.nodes, fleet_.nodes}};
    case Limit::fleet_price:
      return {ReasonCode::fleet_price_limit,
              {(offering.price_per_hour * count).count, limits.price_per_hour->count, fleet_price_per_hour_.count}};
    case Limit::none:
      break;
  }
  CAPSTAN_ASSERT(false);
  return {};
}

}  // namespace capstan::decide::provision
