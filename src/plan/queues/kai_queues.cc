#include <fmt/format.h>

#include "plan/objects/names.h"
#include "plan/objects/scheduling.h"
#include "plan/queues/queues.h"

namespace capstan::plan {

namespace {

constexpr std::int64_t kUnlimited = -1;

Yaml unlimited_resource() { return Yaml::map({{"quota", kUnlimited}, {"limit", kUnlimited}, {"overQuotaWeight", 1}}); }

/// Returns a queue. The scheduler of a KAI node pool knows only queues with the label of that pool.
Yaml kai_queue(const PlanSpec& spec, std::string_view name) {
  Yaml queue = kube_object("scheduling.run.ai/v2", "Queue", name);
  if (!spec.cluster.kai_node_pool.empty()) {
    queue["metadata"]["labels"].set(kKaiNodePoolLabel, spec.cluster.kai_node_pool);
  }
  return queue;
}

Yaml kai_resources(GpuCount quota, std::int64_t limit) {
  Yaml gpu = Yaml::map({{"quota", quota}, {"limit", limit}, {"overQuotaWeight", 1}});
  Yaml resources = Yaml::map({{"gpu", gpu}});
  resources.set("cpu", unlimited_resource(), "-1 is no limit; a limit that is left out is 0, and then nothing starts");
  resources.set("memory", unlimited_resource());
  return resources;
}

std::string kai_comment(const TenantShare& share) {
  if (!share.is_derived) return "GPUs that the spec states; pods above it may be reclaimed for other tenants";
  if (share.has_slices) return "KAI counts a slice by its compute slices, and the spec states no quota";
  if (share.quota == 0) return "jobs run on GPUs that no other tenant uses, and give them back when asked";
  return "the services at their maximum; pods of priority 100 and more start only inside the quota";
}

}  // namespace

std::vector<Manifest> kai_queues(const QueueInput& input) {
  std::vector<Manifest> manifests;
  const std::string root_name = cluster_queue_name(input.spec);
  GpuCount quotas = 0;
  for (const TenantShare& share : input.shares) {
    const bool is_unlimited = quotas == kUnlimited || (share.is_derived && share.has_slices);
    quotas = is_unlimited ? kUnlimited : quotas + share.quota;
  }
  Yaml root = kai_queue(input.spec, root_name);
  root["spec"].set("resources", kai_resources(quotas, input.spec.limits.gpus ? *input.spec.limits.gpus : kUnlimited));
  manifests.push_back({.file = "gangs/kai/queues.yaml", .body = std::move(root)});
  for (const TenantShare& share : input.shares) {
    Yaml queue = kai_queue(input.spec, share.tenant->name);
    queue["spec"].set("parentQueue", root_name);
    queue["spec"].set("priority", share.tenant->priority, "free GPUs go to the queue with the highest priority first");
    const GpuCount quota = share.is_derived && share.has_slices ? kUnlimited : share.quota;
    Yaml resources = kai_resources(quota, share.limit ? *share.limit : kUnlimited);
    resources["gpu"].set("quota", quota, kai_comment(share));
    queue["spec"].set("resources", resources);
    manifests.push_back({.file = "gangs/kai/queues.yaml", .body = std::move(queue)});
  }
  if (needs_gangs(input.spec)) manifests.push_back(topology_manifest(input, "kai.scheduler/v1alpha1", "kai"));
  return manifests;
}

}  // namespace capstan::plan
