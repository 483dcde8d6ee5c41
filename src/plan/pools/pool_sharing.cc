#include "plan/pools/pool_sharing.h"

#include <algorithm>

#include "plan/objects/names.h"
#include "plan/objects/scheduling.h"
#include "plan/pods/engine_command.h"
#include "plan/pools/pools.h"
#include "plan/pools/sharing_choice.h"

namespace capstan::plan {

TenantSpec::Kind kind_of_tenant(const PlanSpec& spec, std::string_view name) {
  const auto found = std::ranges::find(spec.tenants, name, &TenantSpec::name);
  return found == spec.tenants.end() ? TenantSpec::Kind::production : found->kind;
}

std::int64_t mps_shares(const PlanFacts& facts, std::string_view pool) {
  if (has_jobs(facts.spec) || gpus_of_jobs(facts.spec) > 0) return 1;
  std::int64_t shares = 0;
  for (const auto& [service, plan] : planned_services(facts)) {
    for (const RoleFleet& role : plan.roles) {
      if (device_of(role).pool != pool) continue;
      const SharingChoice choice = choose_sharing(service, kind_of_tenant(facts.spec, service.tenant), role);
      if (choice.sharing != Sharing::mps || !bounds_gpu_memory(service.engine)) return 1;
      // The memory of each share must hold the largest of the workloads.
      shares = shares == 0 ? choice.per_gpu : std::min(shares, choice.per_gpu);
    }
  }
  return std::max<std::int64_t>(1, shares);
}

}  // namespace capstan::plan
