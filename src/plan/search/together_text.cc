#include "plan/search/together_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "plan/objects/names.h"
#include "plan/objects/scheduling.h"
#include "plan/pools/mig_table.h"
#include "plan/pools/pools.h"
#include "plan/queues/queues.h"
#include "plan/queues/tenant_jobs.h"
#include "plan/queues/tenant_shares.h"
#include "plan/search/scenario_parts.h"

namespace capstan::plan {

namespace {

using model::CapacityType;

/// Writes the parts of the scenario of all services.
class TogetherText {
 public:
  TogetherText(const PlanSpec& spec, const std::vector<ServicePlan>& plans, std::span<const ServiceFleet> fleets)
      : spec_(spec),
        plans_(plans),
        fleets_(fleets),
        pools_(gpu_pools({spec, plans})),
        jobs_(placed_jobs(spec, pools_)) {}

  std::string text() const {
    Yaml out = Yaml::map({{"name", spec_.name},
                          {"title", fmt::format("All services{} of the plan {} on one cluster",
                                                jobs_.empty() ? "" : " and jobs", spec_.name)},
                          {"seed", 1}});
    if (!jobs_.empty()) out.set("settle", "5m", "jobs go on for longer than the load");
    if (const Yaml queues = queues_yaml(); !queues.empty()) out.set("queues", queues);
    out.set("services", services_yaml());
    if (!jobs_.empty()) out.set("jobs", jobs_yaml());
    out.set("cluster", cluster_yaml());
    out.set("policies", Yaml::list({policy_yaml()}));
    return out.document();
  }

 private:
  /// Returns true if all pods of a tenant have whole GPUs. Limits count whole GPUs, but a simulated queue would count
  /// MIG slices, so a tenant with slices gets no queue.
  bool has_whole_gpus(std::string_view tenant) const {
    for (std::size_t i = 0; i < plans_.size(); ++i) {
      if (!tenant.empty() && spec_.services[i].tenant != tenant) continue;
      for (const RoleFleet& role : plans_[i].roles) {
        if (mig_profile_of(role.engine.gpu)) return false;
      }
    }
    return true;
  }

  Yaml queues_yaml() const {
    Yaml out = Yaml::list();
    const std::vector<TenantShare> shares = tenant_shares({spec_, plans_}, pools_);
    for (const TenantShare& share : shares) {
      const auto limit = capstan_limit({.spec = spec_, .pools = pools_, .shares = shares}, share);
      if (!has_whole_gpus(share.tenant->name)) continue;
      Yaml queue = Yaml::map({{"name", share.tenant->name}});
      if (limit) queue.set("gpu_limit", *limit);
      out.add(queue);
    }
    return out;
  }

  Yaml services_yaml() const {
    Yaml out = Yaml::list();
    for (const ServiceFleet& fleet : fleets_) {
      Yaml service = service_yaml(spec_, *fleet.service, fleet.fleet, {});
      if (has_whole_gpus(fleet.service->tenant)) service.set("queue", fleet.service->tenant);
      if (!jobs_.empty() && has_preemption(spec_)) service.set("priority", priority_of(fleet.service->tenant));
      service.set("load", load_yaml(fleet.service->load, *fleet.load, {}));
      out.add(service);
    }
    return out;
  }

  std::int64_t priority_of(const std::string& tenant) const {
    const auto found = std::ranges::find(spec_.tenants, tenant, &TenantSpec::name);
    return found == spec_.tenants.end() ? 0 : found->priority;
  }

  /// Returns the time after which no jobs arrive: the end of the longest load.
  Duration jobs_until() const {
    Duration longest = std::chrono::seconds(1);
    for (const ServiceFleet& fleet : fleets_) longest = std::max(longest, fleet.load->length);
    return longest;
  }

  Yaml jobs_yaml() const {
    Yaml out = Yaml::list();
    for (const PlacedJobs& placed : jobs_) {
      const bool has_queue = has_whole_gpus(placed.tenant->name);
      out.add(job_class_yaml(placed, has_queue, has_preemption(spec_), jobs_until()));
    }
    return out;
  }

  /// Returns the machines of a pool that the first replicas need, and the machines of one replica.
  InitialMachines standing_machines(const GpuPool& pool) const {
    InitialMachines out{.machine = &pool.machines.front(), .pool = pool.name};
    GpuCount gpus = 0;
    for (std::size_t i = 0; i < fleets_.size(); ++i) {
      const FleetOption& fleet = fleets_[i].fleet;
      for (std::size_t j = 0; j < plans_[i].roles.size(); ++j) {
        const RoleFleet& role = plans_[i].roles[j];
        const Device device = device_of(role);
        if (device.pool != pool.name) continue;
        out.base = role.base;
        out.spot_pool = pool.name + "-spot";
        const std::int64_t unit = fleet.candidate->machines_per_replica();
        out.unit = std::max(out.unit, unit);
        const GpuCount of_replica =
            unit > 1 ? unit * pool.gpus_per_node() : blocked_gpus(device.per_pod, pool.gpus_per_node()) * role.pods;
        gpus += fleet.first_replicas(j) * of_replica;
      }
    }
    out.needed = ceil_div(gpus, pool.gpus_per_node());
    out.spot = std::min(pool.spot_base_nodes, out.needed);
    return out;
  }

  Yaml cluster_yaml() const {
    Yaml out = Yaml::map({{"zones", Yaml::list(spec_.cluster.zones)}, {"racks_per_zone", 4}});
    const bool buys = spec_.cluster.provisioner != Provisioner::none;
    Yaml pools = Yaml::list(), existing = Yaml::list();
    std::int64_t machines = 0;
    bool has_spot = false;
    for (const GpuPool& pool : pools_) {
      const InitialMachines standing = standing_machines(pool);
      const std::int64_t bought = std::max(pool.limit_nodes(), standing.needed);
      pools.add(pool_yaml(pool.machines.front(), pool.name, bought, standing.base));
      if (pool.spot_nodes > 0) {
        pools.add(pool_yaml(pool.machines.front(), pool.name + "-spot", pool.spot_nodes, CapacityType::spot));
      }
      add_initial_nodes(spec_.cluster, standing, existing);
      machines += std::max(bought + pool.spot_nodes, pool.existing_nodes);
      has_spot = has_spot || pool.spot_nodes > 0 || standing.base == CapacityType::spot;
    }
    out.set("nvlink_domains_per_rack", std::max<std::int64_t>(8, (machines + 3) / 4));
    if (buys) out.set("pools", pools);
    if (!existing.empty()) out.set("existing", existing);
    add_cluster_facts(spec_.cluster.spot_interruptions_ppm, has_spot, out);
    return out;
  }

  Yaml policy_yaml() const {
    Yaml scale;
    for (const ServiceFleet& fleet : fleets_) scale["services"].set(fleet.service->name, fleet.fleet.scale);
    return Yaml::map({{"name", "plan"}, {"scale", scale}, {"place", "gang"}, {"provision", provision_yaml(spec_, {})}});
  }

  const PlanSpec& spec_;
  const std::vector<ServicePlan>& plans_;
  std::span<const ServiceFleet> fleets_;
  std::vector<GpuPool> pools_;
  std::vector<PlacedJobs> jobs_;
};

}  // namespace

std::string together_text(const PlanSpec& spec, const std::vector<ServicePlan>& plans,
                          std::span<const ServiceFleet> fleets) {
  return TogetherText(spec, plans, fleets).text();
}

}  // namespace capstan::plan
