#include "plan/sections/pools.h"

#include <fmt/format.h>

#include <algorithm>

#include "explain/words.h"
#include "plan/names.h"
#include "plan/sections/mig_table.h"

namespace capstan::plan {

namespace {

/// Returns the GPUs that a pod blocks on a node, so that equal pods fill the node: 4 for a pod of 3 GPUs on a node
/// of 8.
GpuCount blocked_gpus(GpuCount per_pod, GpuCount per_node) {
  return per_pod >= per_node || per_pod == 0 ? per_node : per_node / (per_node / per_pod);
}

struct PoolDemand {
  GpuCount minimum = 0, maximum = 0;
  std::uint32_t spot_ppm = 0;
};

void add_machine(GpuPool& pool, const MachineSpec& machine) {
  const auto is_same = [&](const MachineSpec& known) { return known.name == machine.name; };
  if (std::ranges::any_of(pool.machines, is_same)) return;
  pool.machines.push_back(machine);
  pool.existing_nodes += machine.existing;
}

void add_start(GpuPool& pool, const ServicePlan& plan) {
  Duration total{};
  for (const StartPhase& phase : plan.start) {
    total += phase.typical;
    if (phase.name != "node") continue;
    pool.node_typical = std::max(pool.node_typical, phase.typical);
    pool.node_longest = std::max(pool.node_longest, phase.longest);
  }
  pool.start_typical = std::max(pool.start_typical, total);
}

/// Lowers the largest fleet of a pool to the limit of the spec, in whole nodes.
void cap(GpuPool& pool, const LimitSpec& limits) {
  if (!limits.gpus) return;
  const std::int64_t nodes = std::max(pool.base_nodes, *limits.gpus / pool.whole_gpus_per_node());
  if (nodes >= pool.max_nodes) return;
  pool.max_nodes = nodes;
  pool.spot_nodes = std::min(pool.spot_nodes, pool.max_nodes - pool.base_nodes);
  pool.arithmetic += fmt::format("; the spec limits the fleet to {} GPUs", *limits.gpus);
}

/// Returns the GPUs that tenants without a service are entitled to.
GpuCount gpus_of_jobs(const PlanSpec& spec) {
  GpuCount gpus = 0;
  for (const TenantSpec& tenant : spec.tenants) {
    const bool serves =
        std::ranges::any_of(spec.services, [&](const ServiceSpec& service) { return service.tenant == tenant.name; });
    if (!serves) gpus += tenant.gpu_quota;
  }
  return gpus;
}

/// Adds the jobs to the largest pool of whole GPUs, because the spec does not say which GPU kind they need.
void add_jobs(std::vector<GpuPool>& pools, const PlanSpec& spec) {
  const GpuCount gpus = gpus_of_jobs(spec);
  GpuPool* largest = nullptr;
  for (GpuPool& pool : pools) {
    if (mig_profile_of(pool.gpu)) continue;
    const auto size = [](const GpuPool& p) { return p.max_nodes * p.gpus_per_node(); };
    if (largest == nullptr || size(pool) > size(*largest)) largest = &pool;
  }
  if (gpus == 0 || largest == nullptr) return;
  largest->reserved_for_jobs = gpus;
  largest->max_nodes += ceil_div(gpus, largest->gpus_per_node());
  largest->arithmetic += fmt::format(", and {} for the jobs of other tenants in the largest pool",
                                     explain::count_text(gpus, "GPU", "GPUs"));
}

}  // namespace

std::int64_t slices_per_gpu(std::string_view gpu) {
  const lint::MigProduct* product = mig_product_of(gpu);
  const std::optional<std::string> profile = mig_profile_of(gpu);
  return product != nullptr && profile ? product->max_of(*profile).value_or(1) : 1;
}

GpuCount GpuPool::whole_gpus_per_node() const { return std::max<GpuCount>(1, gpus_per_node() / slices_per_gpu(gpu)); }

std::vector<GpuPool> gpu_pools(const PlanFacts& facts) {
  std::vector<GpuPool> pools;
  std::vector<PoolDemand> demands;
  for (std::size_t i = 0; i < facts.services.size(); ++i) {
    const ServicePlan& plan = facts.services[i];
    const ServiceSpec& service = facts.spec.services.at(i);
    for (const RoleFleet& role : plan.roles) {
      const std::string name = pool_name(role.engine.gpu);
      auto pool = std::ranges::find(pools, name, &GpuPool::name);
      if (pool == pools.end()) {
        pools.push_back({.name = name, .gpu = role.engine.gpu});
        demands.emplace_back();
        pool = pools.end() - 1;
      }
      PoolDemand& demand = demands[static_cast<std::size_t>(pool - pools.begin())];
      add_machine(*pool, role.machine);
      add_start(*pool, plan);
      const std::string workload = workload_name(service, role.role);
      pool->workloads.push_back(workload);
      pool->holds_slo = pool->holds_slo && plan.holds_slo;
      const Device device = device_of(role);
      const GpuCount per_replica = blocked_gpus(device.per_pod, pool->gpus_per_node()) * role.pods;
      demand.minimum += role.minimum * per_replica;
      demand.maximum += role.maximum * per_replica;
      demand.spot_ppm = std::max(demand.spot_ppm, plan.spot_ppm);
      pool->arithmetic += fmt::format(
          "{}{}: {} x {}", pool->arithmetic.empty() ? "" : ", ", workload, explain::replicas_text(role.maximum),
          mig_profile_of(role.engine.gpu) ? explain::count_text(per_replica, "slice", "slices")
                                          : explain::count_text(per_replica, "GPU", "GPUs"));
    }
  }
  for (std::size_t i = 0; i < pools.size(); ++i) {
    GpuPool& pool = pools[i];
    pool.base_nodes = ceil_div(demands[i].minimum, pool.gpus_per_node());
    pool.max_nodes = std::max(pool.base_nodes, ceil_div(demands[i].maximum, pool.gpus_per_node()));
    // A part of a node cannot be bought as spot; the base takes the rounding.
    pool.spot_nodes = (pool.max_nodes - pool.base_nodes) * std::int64_t{demands[i].spot_ppm} / 1'000'000;
  }
  add_jobs(pools, facts.spec);
  for (GpuPool& pool : pools) cap(pool, facts.spec.limits);
  return pools;
}

}  // namespace capstan::plan
