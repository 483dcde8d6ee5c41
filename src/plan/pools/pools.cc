#include "plan/pools/pools.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/unit_text.h"
#include "experiment/text/words.h"
#include "explain/words.h"
#include "plan/fleet/replacement_nodes.h"
#include "plan/objects/names.h"
#include "plan/pods/cold_start.h"
#include "plan/pools/mig_table.h"
#include "plan/pools/pool_sharing.h"
#include "plan/spec/candidates.h"

namespace capstan::plan {

namespace {

struct PoolDemand {
  GpuCount minimum = 0, maximum = 0;
  std::uint32_t spot_ppm = 0, spot_base_ppm = 0;
};

void add_start(GpuPool& pool, const ServicePlan& plan) {
  for (const StartPhase& phase : plan.start) {
    if (phase.step != StartStep::node) continue;
    pool.node_typical = std::max(pool.node_typical, phase.typical);
    pool.node_longest = std::max(pool.node_longest, phase.longest);
  }
  pool.start_typical = std::max(pool.start_typical, cold_start_sum(plan.start).typical_without_node);
}

MicroUsd node_price(const GpuPool& pool) { return price_of(pool.machines.front(), pool.base).value_or(MicroUsd{0}); }

/// Lowers the maximum of the pools, one pool after the other and in whole nodes, until all pools together keep a limit
/// of the spec. No maximum falls below the base of its pool.
/// @param cost_of  returns the cost of one node, in the unit of the limit
template <typename Cost>
void keep_limit(std::vector<GpuPool>& pools, std::int64_t limit, const std::string& words, Cost cost_of) {
  std::int64_t cost = 0;
  for (const GpuPool& pool : pools) cost += pool.max_nodes * cost_of(pool);
  for (GpuPool& pool : pools) {
    if (cost_of(pool) <= 0) continue;
    const std::int64_t over = ceil_div(std::max<std::int64_t>(0, cost - limit), cost_of(pool));
    const std::int64_t fewer = std::min(over, pool.max_nodes - pool.base_nodes);
    if (fewer == 0) continue;
    cost -= fewer * cost_of(pool);
    pool.max_nodes -= fewer;
    pool.spot_nodes = std::min(pool.spot_nodes, pool.max_nodes - pool.minimum_nodes(false));
    pool.arithmetic += fmt::format("; the spec limits all pools together to {}", words);
  }
}

void keep_limits(std::vector<GpuPool>& pools, const LimitSpec& limits) {
  if (limits.gpus) {
    keep_limit(pools, *limits.gpus, fmt::format("{} GPUs", *limits.gpus),
               [](const GpuPool& pool) { return pool.whole_gpus_per_node(); });
  }
  if (limits.per_hour) {
    keep_limit(pools, limits.per_hour->count, experiment::usd(limits.per_hour->count) + " USD/h",
               [](const GpuPool& pool) { return node_price(pool).count; });
  }
}

/// Lets each pool buy the nodes that replace the base of a lost zone, within the limits of the spec. The nodes of that
/// zone count against the limit of the pool until they are deleted.
void add_replacements(std::vector<GpuPool>& pools, const PlanSpec& spec) {
  GpuCount gpus = 0;
  MicroUsd per_hour{0};
  for (const GpuPool& pool : pools) {
    gpus += pool.max_nodes * pool.whole_gpus_per_node();
    per_hour = per_hour + node_price(pool) * pool.max_nodes;
  }
  for (GpuPool& pool : pools) {
    const std::int64_t left = nodes_left(spec.limits, gpus, per_hour, pool.whole_gpus_per_node(), node_price(pool));
    pool.replacement_nodes = replacement_nodes(spec.cluster, pool.base_nodes, pool.nodes_per_replica, left);
    if (pool.replacement_nodes == 0) continue;
    gpus += pool.replacement_nodes * pool.whole_gpus_per_node();
    per_hour = per_hour + node_price(pool) * pool.replacement_nodes;
    pool.arithmetic +=
        fmt::format(", and {} while a zone is lost", count_text(pool.replacement_nodes, "node more", "nodes more"));
  }
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
  largest->is_constant = false;
  largest->max_nodes += ceil_div(gpus, largest->gpus_per_node());
  largest->arithmetic +=
      fmt::format(", and {} for the jobs of other tenants in the largest pool", count_text(gpus, "GPU", "GPUs"));
}

}  // namespace

GpuCount blocked_gpus(GpuCount per_pod, GpuCount per_node) {
  return per_pod >= per_node || per_pod == 0 ? per_node : per_node / (per_node / per_pod);
}

GpuCount gpus_of_jobs(const PlanSpec& spec) {
  GpuCount gpus = 0;
  for (const TenantSpec& tenant : spec.tenants) {
    const bool serves =
        std::ranges::any_of(spec.services, [&](const ServiceSpec& service) { return service.tenant == tenant.name; });
    if (!serves) gpus += tenant.gpu_quota;
  }
  return gpus;
}

void name_pools(std::vector<ServicePlan>& services) {
  std::map<std::string, std::set<std::string>> machines;  // machine types by the name of the GPU kind's pool
  for (const ServicePlan& service : services) {
    for (const RoleFleet& role : service.roles) machines[pool_name(role.engine.gpu)].insert(role.machine.name);
  }
  for (ServicePlan& service : services) {
    for (RoleFleet& role : service.roles) {
      role.pool = pool_name(role.engine.gpu);
      if (machines[role.pool].size() > 1) role.pool += "-" + pool_name(role.machine.name);
    }
  }
  const auto suffix = [](const RoleFleet& role) -> std::string {
    if (role.base == model::CapacityType::spot) return "-spot-base";
    return role.spot_base_ppm > 0 ? "-half-spot" : "";
  };
  std::map<std::string, std::set<std::string>> suffixes;
  for (const ServicePlan& service : services) {
    for (const RoleFleet& role : service.roles) suffixes[role.pool].insert(suffix(role));
  }
  for (ServicePlan& service : services) {
    for (RoleFleet& role : service.roles) {
      if (suffixes[role.pool].size() > 1) role.pool += suffix(role);
    }
  }
}

std::int64_t slices_per_gpu(std::string_view gpu) {
  const lint::MigProduct* product = mig_product_of(gpu);
  const std::optional<std::string> profile = mig_profile_of(gpu);
  return product != nullptr && profile ? product->max_of(*profile).value_or(1) : 1;
}

std::optional<DeviceLabel> device_label(const GpuPool& pool) {
  if (mig_profile_of(pool.gpu)) {
    return DeviceLabel{"nvidia.com/mig.config", pool.name, "the geometry that the GPU Operator applies"};
  }
  if (pool.mps_shares < 2) return std::nullopt;
  return DeviceLabel{kDevicePluginLabel, mps_config(pool.name),
                     fmt::format("the GPU Operator divides each GPU between {} pods", pool.mps_shares)};
}

std::string mps_config(std::string_view pool) { return fmt::format("{}-mps", pool); }

std::string time_slicing_config(std::string_view pool) { return fmt::format("{}-time-slicing", pool); }

GpuCount GpuPool::whole_gpus_per_node() const { return std::max<GpuCount>(1, gpus_per_node() / slices_per_gpu(gpu)); }

std::vector<GpuPool> gpu_pools(const PlanFacts& facts) {
  std::vector<GpuPool> pools;
  std::vector<PoolDemand> demands;
  for (const auto& [service, plan] : planned_services(facts)) {
    for (const RoleFleet& role : plan.roles) {
      const Device device = device_of(role);
      const std::string& name = device.pool;
      auto pool = std::ranges::find(pools, name, &GpuPool::name);
      if (pool == pools.end()) {
        pools.push_back({.name = name,
                         .gpu = role.engine.gpu,
                         .machines = {role.machine},
                         .base = role.base,
                         .existing_nodes = role.machine.existing,
                         .mps_shares = mps_shares(facts, name)});
        demands.emplace_back();
        pool = pools.end() - 1;
      }
      pool->nodes_per_replica = std::max(pool->nodes_per_replica, ceil_div(role.engine.tp, pool->gpus_per_node()));
      PoolDemand& demand = demands[static_cast<std::size_t>(pool - pools.begin())];
      add_start(*pool, plan);
      const std::string workload = workload_name(service, role.role);
      pool->workloads.push_back(workload);
      pool->holds_slo = pool->holds_slo && plan.holds_slo;
      pool->is_constant = pool->is_constant && plan.scaler == ScalerKind::constant;
      const GpuCount per_replica = blocked_gpus(device.per_pod, pool->gpus_per_node()) * role.pods;
      demand.minimum += role.minimum * per_replica;
      demand.maximum += role.maximum * per_replica;
      demand.spot_ppm = std::max(demand.spot_ppm, plan.spot_ppm);
      demand.spot_base_ppm = role.spot_base_ppm;  // the same for all roles of a pool, see `name_pools`
      pool->arithmetic += fmt::format("{}{}: {} x {}", pool->arithmetic.empty() ? "" : ", ", workload,
                                      explain::replicas_text(role.maximum),
                                      mig_profile_of(role.engine.gpu) ? count_text(per_replica, "slice", "slices")
                                                                      : count_text(per_replica, "GPU", "GPUs"));
    }
  }
  for (std::size_t i = 0; i < pools.size(); ++i) {
    GpuPool& pool = pools[i];
    pool.base_nodes = ceil_div(demands[i].minimum, pool.gpus_per_node());
    pool.max_nodes = std::max(pool.base_nodes, ceil_div(demands[i].maximum, pool.gpus_per_node()));
    // Rounded down, because a part of a node cannot be bought as spot. The rest has the capacity type of the base.
    pool.spot_nodes = (pool.max_nodes - pool.base_nodes) * std::int64_t{demands[i].spot_ppm} / 1'000'000;
    pool.spot_base_nodes = pool.base_nodes / pool.nodes_per_replica * std::int64_t{demands[i].spot_base_ppm} /
                           1'000'000 * pool.nodes_per_replica;
    pool.spot_nodes += pool.spot_base_nodes;
  }
  add_jobs(pools, facts.spec);
  keep_limits(pools, facts.spec.limits);
  add_replacements(pools, facts.spec);
  return pools;
}

}  // namespace capstan::plan
