#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "plan/objects/names.h"
#include "plan/objects/scheduling.h"
#include "plan/queues/queues.h"

namespace capstan::plan {

namespace {

constexpr std::string_view kKueueVersion = "kueue.x-k8s.io/v1beta2";
// A machine whose size the catalogue does not have is taken to be a large one, because these quotas must not bind.
constexpr std::int64_t kLargeVcpus = 192;
constexpr std::int64_t kLargeMemoryGib = 2048;

/// Returns the resources that the queues cover. Kueue admits no pod that asks for another resource.
std::vector<std::string> covered_resources(const QueueInput& input) {
  std::vector<std::string> names{"cpu", "memory"};
  for (const GpuPool& pool : input.pools) {
    std::string name = gpu_resource(input.spec.cluster.cloud, pool.gpu);
    if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  }
  return names;
}

Manifest resource_flavor(const QueueInput& input, const GpuPool& pool) {
  Yaml object = kube_object(kKueueVersion, "ResourceFlavor", pool.name);
  object["spec"].set("nodeLabels", pool_selector(pool.name));
  object["spec"].set("tolerations", Yaml::list({gpu_toleration()}));
  if (needs_gangs(input.spec)) object["spec"].set("topologyName", cluster_queue_name(input.spec));
  return {.file = "gangs/kueue/flavors.yaml", .body = std::move(object)};
}

Yaml flavor_quotas(const QueueInput& input, const TenantShare& share, std::size_t index) {
  const GpuPool& pool = input.pools[index];
  const MachineSpec& machine = pool.machines.front();
  Yaml resources = Yaml::list();
  for (const std::string& name : covered_resources(input)) {
    Yaml quota = Yaml::map({{"name", name}});
    if (name == "cpu") {
      quota.set("nominalQuota", pool.max_nodes * (machine.vcpus > 0 ? machine.vcpus : kLargeVcpus),
                "all processors of the pool: only GPUs are divided");
    } else if (name == "memory") {
      quota.set("nominalQuota",
                fmt::format("{}Gi", pool.max_nodes * (machine.memory_gib > 0 ? machine.memory_gib : kLargeMemoryGib)));
    } else {
      const bool is_here = name == gpu_resource(input.spec.cluster.cloud, pool.gpu);
      quota.set("nominalQuota", is_here ? share.pools[index].quota : 0);
      if (is_here && share.limit)
        quota.set("borrowingLimit", std::max<GpuCount>(0, *share.limit - share.pools[index].quota));
    }
    resources.add(quota);
  }
  return Yaml::map({{"name", pool.name}, {"resources", resources}});
}

Yaml kueue_preemption(const TenantSpec& tenant) {
  const bool is_production = tenant.kind == TenantSpec::Kind::production;
  Yaml rules;
  rules.set("reclaimWithinCohort", is_production ? "Any" : "LowerPriority",
            is_production ? "takes back its quota from any tenant that borrowed it" : "");
  if (is_production) {
    rules.set("borrowWithinCohort", Yaml::map({{"policy", "LowerPriority"}}));
  }
  rules.set("withinClusterQueue", "LowerPriority");
  return rules;
}

Manifest cluster_queue(const QueueInput& input, const TenantShare& share) {
  Yaml object = kube_object(kKueueVersion, "ClusterQueue", share.tenant->name);
  Yaml& body = object["spec"];
  body.set("cohortName", cluster_queue_name(input.spec), "tenants of one cohort lend each other what they do not use");
  body["namespaceSelector"].set("matchLabels", Yaml::map({{"kubernetes.io/metadata.name", input.spec.namespace_}}));
  body.set("preemption", kueue_preemption(*share.tenant));
  Yaml flavors = Yaml::list();
  for (std::size_t i = 0; i < input.pools.size(); ++i) flavors.add(flavor_quotas(input, share, i));
  body.set("resourceGroups",
           Yaml::list({Yaml::map({{"coveredResources", Yaml::list(covered_resources(input))}, {"flavors", flavors}})}));
  return {.file = "gangs/kueue/queues.yaml", .body = std::move(object)};
}

Manifest local_queue(const QueueInput& input, const TenantSpec& tenant) {
  Yaml object = kube_object(kKueueVersion, "LocalQueue", tenant.name, input.spec.namespace_);
  object["spec"].set("clusterQueue", tenant.name);
  return {.file = "gangs/kueue/queues.yaml", .body = std::move(object)};
}

}  // namespace

std::vector<Manifest> kueue_queues(const QueueInput& input) {
  std::vector<Manifest> manifests;
  if (needs_gangs(input.spec)) manifests.push_back(topology_manifest(input, kKueueVersion, "kueue"));
  for (const GpuPool& pool : input.pools) manifests.push_back(resource_flavor(input, pool));
  for (const TenantShare& share : input.shares) {
    manifests.push_back(cluster_queue(input, share));
    manifests.push_back(local_queue(input, *share.tenant));
  }
  return manifests;
}

}  // namespace capstan::plan
