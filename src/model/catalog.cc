#include "model/catalog.h"

#include <algorithm>

namespace capstan::model {

NodeAmounts Catalog::amounts_of(OfferingId id, std::int64_t count) const {
  const Offering& sold = offering(id);
  NodeAmounts amounts{.gpus = count * sold.gpus, .nodes = count};
  if (!sold.type.valid()) return amounts;
  const InstanceType& type = known_row(instance_types, sold.type.value);
  amounts.cpu_milli = count * type.cpu_milli.value_or(0);
  amounts.memory_mib = count * type.memory_mib.value_or(0);
  return amounts;
}

bool Catalog::lacks_limited_amount(PoolId pool_id, OfferingId id) const {
  const PoolLimits& limits = pool(pool_id).limits;
  const bool limits_cpu = limits.cpu_milli < kUnlimited, limits_memory = limits.memory_mib < kUnlimited;
  const InstanceTypeId type_id = offering(id).type;
  if (!type_id.valid()) return limits_cpu || limits_memory;
  const InstanceType& type = known_row(instance_types, type_id.value);
  return (limits_cpu && !type.cpu_milli) || (limits_memory && !type.memory_mib);
}

std::int64_t Catalog::nodes_within_limits(PoolId pool_id, OfferingId id, const NodeAmounts& in_use) const {
  if (lacks_limited_amount(pool_id, id)) return 0;
  const PoolLimits& limits = pool(pool_id).limits;
  const NodeAmounts one = amounts_of(id, 1);
  std::int64_t most = kUnlimited;
  const auto bound = [&most](std::int64_t limit, std::int64_t used, std::int64_t each) {
    if (each > 0) most = std::min(most, std::max<std::int64_t>(limit - used, 0) / each);
  };
  bound(limits.gpus, in_use.gpus, one.gpus);
  bound(limits.nodes, in_use.nodes, one.nodes);
  bound(limits.cpu_milli, in_use.cpu_milli, one.cpu_milli);
  bound(limits.memory_mib, in_use.memory_mib, one.memory_mib);
  return most;
}

}  // namespace capstan::model
