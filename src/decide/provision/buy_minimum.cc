#include "decide/provision/passes.h"

namespace capstan::decide::provision {

using model::OfferingId;
using model::PoolId;
using model::Reason;
using model::ReasonCode;

void buy_minimum(Context& context) {
  const Policy& policy = context.policy;
  PurchaseLimits& capacity = context.capacity;
  if (!context.scans || policy.min_nodes == 0) return;
  const model::Catalog& catalog = capacity.catalog();
  for (std::uint32_t p = 0; p < catalog.pools.size(); ++p) {
    const PoolId pool{p};
    for (OfferingId offering : catalog.pool(pool).offerings) {
      while (capacity.nodes_of(pool) < policy.min_nodes &&
             capacity.obstacle(pool, offering, 1) == PurchaseLimits::Obstacle::ok) {
        const Reason why{ReasonCode::pool_minimum, {capacity.nodes_of(pool), policy.min_nodes, pool.value}};
        capacity.launch({.pool = pool, .offering = offering, .domain = {}, .count = 1, .hold = {}, .gang = {}}, why,
                        context.decision, context.memory);
      }
    }
  }
}

}  // namespace capstan::decide::provision
