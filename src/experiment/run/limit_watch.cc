#include "experiment/run/limit_watch.h"

#include <utility>

namespace capstan::experiment {

void LimitWatch::minute(const model::Snapshot& truth) {
  const model::Catalog& catalog = *truth.catalog;
  Sum fleet;
  std::map<model::PoolId, Sum> pools;
  const auto add = [&](model::PoolId pool, model::OfferingId id) {
    if (!pool.valid()) return;  // the controller neither counts nor releases nodes without a pool
    const model::Offering& offering = catalog.offering(id);
    for (Sum* sum : {&fleet, &pools[pool]}) {
      sum->gpus += offering.gpus;
      sum->nodes += 1;
      sum->price_per_hour += offering.price_per_hour;
    }
  };
  truth.nodes.for_each([&](model::NodeId, const model::Node& node) { add(node.pool, node.offering); });
  truth.claims.for_each([&](model::ClaimId, const model::Claim& claim) {
    if (claim.phase == model::Claim::Phase::launched) add(claim.pool, claim.offering);
  });
  if (has_start_) {
    for (const auto& [pool, sum] : pools) hold(sum.gpus, pools_[pool].gpus, catalog.pool(pool).gpu_limit);
    const model::FleetLimits& limits = catalog.limits;
    if (limits.gpus) hold(fleet.gpus, fleet_.gpus, *limits.gpus);
    if (limits.nodes) hold(fleet.nodes, fleet_.nodes, *limits.nodes);
    if (limits.price_per_hour) {
      hold(fleet.price_per_hour.count, fleet_.price_per_hour.count, limits.price_per_hour->count);
    }
  }
  has_start_ = true;
  fleet_ = fleet;
  pools_ = std::move(pools);
}

}  // namespace capstan::experiment
