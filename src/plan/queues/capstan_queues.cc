#include <fmt/format.h>

#include <algorithm>

#include "plan/objects/names.h"
#include "plan/objects/scheduling.h"
#include "plan/queues/queues.h"

namespace capstan::plan {

namespace {

std::string usd_amount(MicroUsd price) {
  std::string text = fmt::format("{}.{:06}", price.count / 1'000'000, price.count % 1'000'000);
  while (text.ends_with('0')) text.pop_back();
  if (text.ends_with('.')) text.pop_back();
  return text;
}

}  // namespace

std::optional<GpuCount> capstan_limit(const QueueInput& input, const TenantShare& share) {
  if (share.limit || share.tenant->kind == TenantSpec::Kind::production) return share.limit;
  GpuCount production = 0;
  for (const TenantShare& other : input.shares)
    production += other.tenant->kind == TenantSpec::Kind::production ? other.quota : 0;
  return std::max(share.quota, fleet_gpus(input.spec, input.pools) - production);
}

Manifest fleet_policy(const QueueInput& input) {
  Yaml object = kube_object("capstan.dev/v1alpha1", "FleetPolicy", "default");
  Yaml& body = object["spec"];
  body["layers"].set("replicas", "Shadow", "Capstan recommends and changes nothing until this is Active");
  if (pod_scheduler(input.spec) != GangScheduler::none) {
    body["layers"].set("placement", "Shadow");
    const std::string_view name = scheduler_name(input.spec);
    body["placement"].set("shadowOf", Yaml::list({Yaml(name.empty() ? "default-scheduler" : name)}));
  }
  body["limits"].set("gpus", fleet_gpus(input.spec, input.pools));
  if (input.spec.limits.per_hour) body["limits"].set("usdPerHour", usd_amount(*input.spec.limits.per_hour));
  return {.file = "gangs/fleet-policy.yaml", .body = std::move(object)};
}

std::vector<Manifest> capstan_queues(const QueueInput& input) {
  std::vector<Manifest> manifests;
  const std::string root_name = cluster_queue_name(input.spec);
  Yaml root = kube_object("capstan.dev/v1alpha1", "Queue", root_name);
  root["spec"]["gpus"].set("limit", fleet_gpus(input.spec, input.pools));
  manifests.push_back({.file = "gangs/capstan/queues.yaml", .body = std::move(root)});
  for (const TenantShare& share : input.shares) {
    Yaml queue = kube_object("capstan.dev/v1alpha1", "Queue", share.tenant->name);
    queue["spec"].set("parent", root_name);
    if (const std::optional<GpuCount> limit = capstan_limit(input, share)) queue["spec"]["gpus"].set("limit", *limit);
    manifests.push_back({.file = "gangs/capstan/queues.yaml", .body = std::move(queue)});
  }
  return manifests;
}

std::vector<Manifest> priority_classes(const PlanSpec& spec) {
  std::vector<Manifest> manifests;
  for (const TenantSpec& tenant : spec.tenants) {
    Yaml object = kube_object("scheduling.k8s.io/v1", "PriorityClass", tenant.name);
    object.set("value", tenant.priority);
    object.set("globalDefault", false);
    const bool is_production = tenant.kind == TenantSpec::Kind::production;
    object.set("preemptionPolicy", is_production ? "PreemptLowerPriority" : "Never",
               is_production ? "" : "jobs wait for free GPUs and stop no other pod");
    object.set("description", fmt::format("pods of the tenant {}", tenant.name));
    manifests.push_back({.file = "gangs/priority-classes.yaml", .body = std::move(object)});
  }
  return manifests;
}

}  // namespace capstan::plan
