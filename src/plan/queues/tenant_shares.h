#pragma once

#include <optional>
#include <vector>

#include "plan/pools/pools.h"
#include "plan/result/plan_facts.h"

namespace capstan::plan {

/// The GPUs of a tenant in one pool, counted in GPUs or, for a pool of slices, in MIG slices.
struct PoolShare {
  GpuCount quota = 0;    ///< units that the tenant is entitled to
  GpuCount maximum = 0;  ///< units of its services at their maximum
};

/// The GPUs that a tenant may hold.
struct TenantShare {
  const TenantSpec* tenant = nullptr;
  GpuCount quota = 0;               ///< GPUs that the tenant is entitled to
  GpuCount maximum = 0;             ///< whole GPUs of its services at their maximum
  std::optional<GpuCount> limit{};  ///< GPUs that the tenant may hold; nothing: all that are free
  std::vector<PoolShare> pools{};   ///< shares by pool of the plan
  bool has_slices = false;          ///< true if its services run on MIG slices
  bool is_derived = false;          ///< true: the spec states no quota, so it follows from the services' maximum
};

/// Returns the shares by tenant of the spec. A tenant without a stated quota is entitled to what its services hold at
/// their maximum, or to nothing if it has only jobs.
std::vector<TenantShare> tenant_shares(const PlanFacts& facts, const std::vector<GpuPool>& pools);

/// Returns the GPUs of the whole fleet: the limit of the spec, or all nodes of the pools.
GpuCount fleet_gpus(const PlanSpec& spec, const std::vector<GpuPool>& pools);

}  // namespace capstan::plan
