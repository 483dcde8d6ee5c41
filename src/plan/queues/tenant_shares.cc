#include "plan/queues/tenant_shares.h"

#include <algorithm>

#include "plan/objects/names.h"

namespace capstan::plan {

namespace {

/// Returns the index of the pool of a role; the number of pools if none of them is for the role.
std::size_t pool_of_role(const std::vector<GpuPool>& pools, const RoleFleet& role) {
  const auto found = std::ranges::find(pools, device_of(role).pool, &GpuPool::name);
  return static_cast<std::size_t>(found - pools.begin());
}

/// Divides a stated quota over the pools. In each pool, the services of the tenant get up to their maximum. The rest of
/// the quota is in the pool for jobs or, without jobs, in the first pool.
void divide_quota(TenantShare& share, const std::vector<GpuPool>& pools) {
  GpuCount rest = share.quota;
  for (PoolShare& pool : share.pools) {
    pool.quota = std::min(rest, pool.maximum);
    rest -= pool.quota;
  }
  const auto jobs = std::ranges::find_if(pools, [](const GpuPool& pool) { return pool.reserved_for_jobs > 0; });
  const std::size_t index = jobs == pools.end() ? 0 : static_cast<std::size_t>(jobs - pools.begin());
  if (!share.pools.empty()) share.pools[index].quota += rest;
}

}  // namespace

std::vector<TenantShare> tenant_shares(const PlanFacts& facts, const std::vector<GpuPool>& pools) {
  std::vector<TenantShare> shares;
  for (const TenantSpec& tenant : facts.spec.tenants) {
    TenantShare share{.tenant = &tenant, .limit = tenant.gpu_limit, .is_derived = tenant.gpu_quota == 0};
    share.pools.resize(pools.size());
    for (const auto& [service, plan] : planned_services(facts)) {
      if (service.tenant != tenant.name) continue;
      for (const RoleFleet& role : plan.roles) {
        const GpuCount gpus = role.maximum * device_of(role).per_pod * role.pods;
        const std::size_t pool = pool_of_role(pools, role);
        if (pool < share.pools.size()) share.pools[pool].maximum += gpus;
        share.has_slices = share.has_slices || mig_profile_of(role.engine.gpu).has_value();
      }
    }
    // Slices of several services may be on one GPU.
    for (std::size_t i = 0; i < pools.size(); ++i)
      share.maximum += ceil_div(share.pools[i].maximum, slices_per_gpu(pools[i].gpu));
    share.quota = share.is_derived ? share.maximum : tenant.gpu_quota;
    if (share.limit) share.quota = std::min(share.quota, *share.limit);
    if (share.is_derived) {
      for (PoolShare& pool : share.pools) pool.quota = pool.maximum;
    } else {
      divide_quota(share, pools);
    }
    shares.push_back(std::move(share));
  }
  return shares;
}

GpuCount fleet_gpus(const PlanSpec& spec, const std::vector<GpuPool>& pools) {
  if (spec.limits.gpus) return *spec.limits.gpus;
  GpuCount gpus = 0;
  for (const GpuPool& pool : pools) gpus += pool.max_nodes * pool.whole_gpus_per_node();
  return gpus;
}

}  // namespace capstan::plan
