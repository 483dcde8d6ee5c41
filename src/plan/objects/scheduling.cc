#include "plan/objects/scheduling.h"

#include <algorithm>

#include "base/ascii.h"
#include "plan/objects/names.h"

namespace capstan::plan {

bool needs_gangs(const PlanSpec& spec) {
  return std::ranges::any_of(spec.services, [](const ServiceSpec& service) { return service.pods_per_replica > 1; });
}

bool has_jobs(const PlanSpec& spec) {
  return std::ranges::any_of(spec.tenants, [](const TenantSpec& tenant) { return !tenant.jobs.empty(); });
}

bool has_karpenter(const ClusterSpec& cluster) {
  return cluster.provisioner == Provisioner::karpenter &&
         (cluster.cloud == Cloud::aws || cluster.cloud == Cloud::azure);
}

GangScheduler pod_scheduler(const PlanSpec& spec) {
  const bool is_needed = needs_gangs(spec) || has_jobs(spec) || spec.tenants.size() > 1;
  return is_needed ? spec.cluster.gang_scheduler : GangScheduler::none;
}

std::string_view scheduler_name(const PlanSpec& spec) {
  return pod_scheduler(spec) == GangScheduler::kai ? "kai-scheduler" : "";
}

Yaml queue_labels(const PlanSpec& spec, std::string_view tenant) {
  switch (pod_scheduler(spec)) {
    case GangScheduler::kai: {
      Yaml labels = Yaml::map({{"kai.scheduler/queue", tenant}});
      if (!spec.cluster.kai_node_pool.empty()) labels.set(kKaiNodePoolLabel, spec.cluster.kai_node_pool);
      const bool has_quota = std::ranges::any_of(
          spec.tenants, [&](const TenantSpec& known) { return known.name == tenant && known.gpu_quota > 0; });
      if (has_quota) labels.set("kai.scheduler/preemptibility", "preemptible", "may start above the quota");
      return labels;
    }
    case GangScheduler::kueue:
      return Yaml::map({{"kueue.x-k8s.io/queue-name", tenant}});
    case GangScheduler::none:
      break;
  }
  return {};
}

Yaml topology_annotations(const PlanSpec& spec, const ServiceSpec& service, const RoleFleet& role) {
  if (service.pods_per_replica < 2) return {};
  const std::string_view level = required_level(spec, role);
  switch (pod_scheduler(spec)) {
    case GangScheduler::kai:
      return Yaml::map(
          {{"kai.scheduler/topology", cluster_queue_name(spec)}, {"kai.scheduler/topology-required-placement", level}});
    case GangScheduler::kueue:
      return Yaml::map({{"kueue.x-k8s.io/podset-required-topology", level},
                        {"kueue.x-k8s.io/podset-group-name", workload_name(service, role.role)}});
    case GangScheduler::none:
      break;
  }
  return Yaml::map({{"leaderworkerset.sigs.k8s.io/exclusive-topology", level}});
}

std::string cluster_queue_name(const PlanSpec& spec) {
  std::string name;
  for (const char c : spec.name) {
    const char lower = ascii_lower(c);
    const bool is_plain = (lower >= 'a' && lower <= 'z') || (lower >= '0' && lower <= '9');
    if (is_plain || !name.ends_with('-')) name += is_plain ? lower : '-';
  }
  while (name.starts_with('-')) name.erase(0, 1);
  while (name.ends_with('-')) name.pop_back();
  if (name.empty()) name = "gpus";
  // The queues of the tenants are children of this queue, so none of them may have its name.
  const bool is_taken = std::ranges::any_of(spec.tenants, [&](const TenantSpec& t) { return t.name == name; });
  return is_taken ? name + "-all" : name;
}

std::string_view required_level(const PlanSpec& spec, const RoleFleet& role) {
  const GpuCount gpus = role.gpus_per_replica();
  if (gpus > 0 && gpus <= role.machine.gpus) return kHostLabel;
  const bool fits = std::ranges::all_of(spec.cluster.machines, [&](const MachineSpec& machine) {
    return machine.nvlink_domain_gpus > machine.gpus && gpus <= machine.nvlink_domain_gpus;
  });
  return fits && gpus > 0 ? kNvlinkLabel : kZoneLabel;
}

}  // namespace capstan::plan
