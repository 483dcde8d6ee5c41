#include "decide/provision/node_account.h"

#include <algorithm>

#include "decide/place/expected_nodes.h"
#include "model/pool_limit.h"

namespace capstan::decide::provision {

using model::OfferingId;
using model::PoolId;
using model::Reason;
using model::ReasonCode;

namespace {

/// Returns true if a pool limits an amount that the index does not sum up by pool.
bool limits_other_amounts(const model::Catalog& catalog) {
  return std::ranges::any_of(catalog.pools, [](const model::Pool& pool) {
    return pool.limits != model::PoolLimits{.gpus = pool.limits.gpus};
  });
}

}  // namespace

NodeAccount::NodeAccount(const Index& index, const model::Snapshot& snapshot,
                         std::span<const Memory::PendingLaunch> asked)
    : catalog_(*snapshot.catalog) {
  const bool has_fleet_limits = catalog_.limits != model::FleetLimits();
  const bool has_other_limits = limits_other_amounts(catalog_);
  if (has_fleet_limits || has_other_limits) {
    snapshot.nodes.for_each([&](model::NodeId, const model::Node& node) {
      if (!node.pool.valid()) return;
      if (has_fleet_limits) add_to_fleet(node.offering, 1);
      if (has_other_limits) pools_[node.pool].in_use += catalog_.amounts_of(node.offering, 1);
    });
  }
  for (const auto& [pool, sum] : index.pools) {
    pools_[pool].in_use.gpus = sum.gpus;
    pools_[pool].nodes = sum.nodes;
  }
  snapshot.claims.for_each([&](model::ClaimId, const model::Claim& claim) {
    if (place::in_transit(claim, snapshot)) add(claim.pool, claim.offering, 1);
  });
  for (const Memory::PendingLaunch& launch : asked) add(launch.pool, launch.offering, launch.count);
}

void NodeAccount::add(PoolId pool, OfferingId offering, std::int64_t count) {
  Sum& sum = pools_[pool];
  sum.in_use += catalog_.amounts_of(offering, count);
  sum.nodes += count;
  add_to_fleet(offering, count);
}

void NodeAccount::add_to_fleet(OfferingId id, std::int64_t count) {
  fleet_ += catalog_.amounts_of(id, count);
  fleet_price_per_hour_ += catalog_.offering(id).price_per_hour * count;
}

NodeAccount::Sum NodeAccount::sum_of(PoolId pool) const {
  const auto found = pools_.find(pool);
  return found == pools_.end() ? Sum{} : found->second;
}

std::int64_t NodeAccount::nodes_of(PoolId pool) const { return sum_of(pool).nodes; }

std::optional<Reason> NodeAccount::refusal(PoolId pool, OfferingId id, std::int64_t count) const {
  std::optional<Reason> refusal = model::refusal_of_pool(catalog_, pool, id, count, sum_of(pool).in_use);
  return refusal ? refusal : refusal_of_fleet(id, count);
}

std::optional<Reason> NodeAccount::refusal_of_fleet(OfferingId id, std::int64_t count) const {
  const model::Offering& offering = catalog_.offering(id);
  const model::FleetLimits& limits = catalog_.limits;
  const GpuCount gpus = count * offering.gpus;
  if (limits.gpus && fleet_.gpus + gpus > *limits.gpus) {
    return Reason{ReasonCode::fleet_gpu_limit, {gpus, *limits.gpus, fleet_.gpus}};
  }
  if (limits.nodes && fleet_.nodes + count > *limits.nodes) {
    return Reason{ReasonCode::fleet_node_limit, {count, *limits.nodes, fleet_.nodes}};
  }
  const MicroUsd price = offering.price_per_hour * count;
  if (limits.price_per_hour && fleet_price_per_hour_ + price > *limits.price_per_hour) {
    return Reason{ReasonCode::fleet_price_limit,
                  {price.count, limits.price_per_hour->count, fleet_price_per_hour_.count}};
  }
  return std::nullopt;
}

}  // namespace capstan::decide::provision
