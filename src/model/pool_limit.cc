#include "model/pool_limit.h"

namespace capstan::model {

std::optional<Reason> refusal_of_pool(const Catalog& catalog, PoolId pool, OfferingId offering, std::int64_t count,
                                      const NodeAmounts& in_use) {
  const PoolLimits& limits = catalog.pool(pool).limits;
  const NodeAmounts more = catalog.amounts_of(offering, count);
  struct Row {
    ReasonCode code;
    std::int64_t more, limit, in_use;
  };
  const Row rows[] = {
      {ReasonCode::pool_limit, more.gpus, limits.gpus, in_use.gpus},
      {ReasonCode::pool_node_limit, more.nodes, limits.nodes, in_use.nodes},
      {ReasonCode::pool_cpu_limit, more.cpu_milli, limits.cpu_milli, in_use.cpu_milli},
      {ReasonCode::pool_memory_limit, more.memory_mib, limits.memory_mib, in_use.memory_mib},
  };
  for (const Row& row : rows) {
    if (row.in_use + row.more > row.limit) return Reason{row.code, {row.more, row.limit, row.in_use, pool.value}};
  }
  if (catalog.lacks_limited_amount(pool, offering)) {
    return Reason{ReasonCode::pool_amount_unknown, {offering.value, pool.value}};
  }
  return std::nullopt;
}

}  // namespace capstan::model
