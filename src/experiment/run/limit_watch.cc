#include "experiment/run/limit_watch.h"

#include <optional>
#include <utility>

#include "sim/cluster/queue_room.h"

namespace capstan::experiment {

void LimitWatch::minute(const model::Snapshot& truth) {
  const model::Catalog& catalog = *truth.catalog;
  Sum fleet;
  std::map<model::PoolId, Sum> pools;
  const auto add = [&](model::PoolId pool, model::OfferingId id) {
    if (!pool.valid()) return;  // the controller neither counts nor releases nodes without a pool
    const model::Offering& offering = catalog.offering(id);
    for (Sum* sum : {&fleet, &pools[pool]}) {
      sum->amounts += catalog.amounts_of(id, 1);
      sum->price_per_hour += offering.price_per_hour;
    }
  };
  truth.nodes.for_each([&](model::NodeId, const model::Node& node) { add(node.pool, node.offering); });
  truth.claims.for_each([&](model::ClaimId, const model::Claim& claim) {
    if (claim.phase == model::Claim::Phase::launched) add(claim.pool, claim.offering);
  });
  if (has_start_) {
    for (const auto& [pool, sum] : pools) count_breaches(sum.amounts, pools_[pool].amounts, catalog.pool(pool).limits);
    const model::FleetLimits& limits = catalog.limits;
    if (limits.gpus) count_breach(fleet.amounts.gpus, fleet_.amounts.gpus, *limits.gpus);
    if (limits.nodes) count_breach(fleet.amounts.nodes, fleet_.amounts.nodes, *limits.nodes);
    if (limits.price_per_hour) {
      count_breach(fleet.price_per_hour.count, fleet_.price_per_hour.count, limits.price_per_hour->count);
    }
  }
  has_start_ = true;
  fleet_ = fleet;
  pools_ = std::move(pools);
  watch_queues(truth);
}

/// Checks the queues. Placement obeys the limits of queues from the start of a run, so the first check compares with 0.
void LimitWatch::watch_queues(const model::Snapshot& truth) {
  std::vector<MilliGpu> held = sim::QueueRoom(truth).held();
  queues_.resize(held.size());
  for (std::size_t i = 0; i < held.size(); ++i) {
    const std::optional<MilliGpu>& limit = truth.catalog->queues[i].gpus.limit;
    if (limit) count_breach(held[i].count, queues_[i].count, limit->count);
  }
  queues_ = std::move(held);
}

void LimitWatch::count_breaches(const model::NodeAmounts& now, const model::NodeAmounts& before,
                                const model::PoolLimits& limits) {
  count_breach(now.gpus, before.gpus, limits.gpus);
  count_breach(now.nodes, before.nodes, limits.nodes);
  count_breach(now.cpu_milli, before.cpu_milli, limits.cpu_milli);
  count_breach(now.memory_mib, before.memory_mib, limits.memory_mib);
}

}  // namespace capstan::experiment
