#include "plan/pools/karpenter.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "base/unit_text.h"
#include "manifest/fields.h"
#include "model/capacity_names.h"
#include "plan/objects/names.h"

namespace capstan::plan {

namespace {

constexpr std::int64_t kBaseWeight = 50;
constexpr std::int64_t kSpotWeight = 10;

Yaml pool_requirement(std::string_view key, const std::vector<std::string>& values, std::string_view comment = {}) {
  Yaml requirement = Yaml::map({{"key", key}, {"operator", "In"}, {"values", Yaml::list(values)}});
  return comment.empty() ? requirement : std::move(requirement).with_comment(comment);
}

std::vector<std::string> machine_names(const GpuPool& pool) {
  std::vector<std::string> names;
  for (const MachineSpec& machine : pool.machines) names.push_back(machine.name);
  return names;
}

/// Returns the processor architecture of the pool's machines. Machines with GB200, GH200 or T4G have Arm processors.
std::string architecture(const GpuPool& pool) {
  const bool is_arm = pool.gpu.starts_with("gb") || pool.gpu.starts_with("gh") || pool.gpu.starts_with("t4g");
  return is_arm ? "arm64" : "amd64";
}

Yaml disruption() {
  Yaml settings;
  settings.set("consolidationPolicy", "WhenEmpty", "moving a replica costs a cold start, so only empty nodes go");
  settings.set("consolidateAfter", kConsolidateAfter, "the next burst finds the node still there");
  Yaml budgets = Yaml::list();
  budgets.add(
      Yaml::map(
          {{"nodes", "0"}, {"reasons", Yaml::list({Yaml("Drifted")})}, {"schedule", kBusyFrom}, {"duration", kBusyFor}})
          .with_comment("no node is replaced for a new image from 06:00 to 22:00 UTC"));
  budgets.add(Yaml::map({{"nodes", "1"}, {"reasons", Yaml::list({Yaml("Drifted")})}})
                  .with_comment("at night one node at a time"));
  settings.set("budgets", budgets);
  return settings;
}

Yaml node_class_ref(const PlanSpec& spec, const GpuPool& pool) {
  const bool is_azure = spec.cluster.cloud == Cloud::azure;
  return Yaml::map({{"group", is_azure ? "karpenter.azure.com" : "karpenter.k8s.aws"},
                    {"kind", is_azure ? "AKSNodeClass" : "EC2NodeClass"},
                    {"name", pool.name}});
}

struct PoolPart {
  std::string name{};
  std::vector<std::string> capacity{};
  std::int64_t nodes = 0;
  std::int64_t weight = 0;
  std::string capacity_comment{};
};

Yaml node_pool(const PlanSpec& spec, const GpuPool& pool, const PoolPart& part) {
  Yaml object = kube_object("karpenter.sh/v1", "NodePool", part.name);
  Yaml& body = object["spec"];
  if (part.weight > 0) body.set("weight", part.weight, "Karpenter asks the pool with the higher weight first");
  std::string size = fmt::format("{} with {}{}", count_text(part.nodes, "node", "nodes"),
                                 count_text(pool.whole_gpus_per_node(), "GPU", "GPUs"), part.nodes == 1 ? "" : " each");
  if (pool.mps_shares > 1) size += fmt::format(", and {} shares of each GPU", pool.mps_shares);
  body["limits"].set(kGpuResource, part.nodes * pool.whole_gpus_per_node() * pool.mps_shares, size);
  body.set("disruption", disruption());
  Yaml& node = body["template"];
  for (const auto& [key, value] : node_labels(spec.cluster, pool.name)) node["metadata"]["labels"].set(key, value);
  if (const auto label = device_label(pool)) node["metadata"]["labels"].set(label->key, label->value, label->comment);
  Yaml& node_spec = node["spec"];
  node_spec.set("nodeClassRef", node_class_ref(spec, pool));
  Yaml requirements = Yaml::list();
  requirements.add(pool_requirement("node.kubernetes.io/instance-type", machine_names(pool)));
  requirements.add(pool_requirement("karpenter.sh/capacity-type", part.capacity, part.capacity_comment));
  requirements.add(pool_requirement("topology.kubernetes.io/zone", spec.cluster.zones));
  requirements.add(pool_requirement("kubernetes.io/arch", {architecture(pool)}));
  node_spec.set("requirements", requirements);
  node_spec.set("taints",
                Yaml::list({Yaml::map({{"key", kGpuTaint}, {"value", "present"}, {"effect", "NoSchedule"}})}));
  node_spec.set("expireAfter", "Never",
                "expiry ignores budgets; nodes are renewed by drift, when the image is changed");
  node_spec.set("terminationGracePeriod", manifest::duration_text(std::chrono::minutes(kNodeGraceMinutes)),
                "longer than any pod's, so that answers end before the node does");
  return object;
}

}  // namespace

std::vector<std::string> base_capacity(const ClusterSpec& cluster, const GpuPool& pool) {
  std::vector<std::string> types;
  if (pool.base == model::CapacityType::spot) types.emplace_back(model::name(model::CapacityType::spot).label);
  for (const model::CapacityType type : {model::CapacityType::reserved, model::CapacityType::on_demand}) {
    if (std::ranges::find(cluster.capacity, type) != cluster.capacity.end())
      types.emplace_back(model::name(type).label);
  }
  if (types.empty()) types.emplace_back(model::name(pool.base).label);
  return types;
}

std::vector<Manifest> node_pools(const PlanSpec& spec, const GpuPool& pool) {
  const bool has_spot = pool.spot_nodes > 0;
  const PoolPart base{.name = pool.name,
                      .capacity = base_capacity(spec.cluster, pool),
                      .nodes = pool.limit_nodes(),
                      .weight = has_spot ? kBaseWeight : 0};
  std::vector<Manifest> manifests;
  manifests.push_back(
      {.file = "nodes/" + pool.name + ".yaml", .body = node_pool(spec, pool, base), .is_on_page = true});
  if (!has_spot) return manifests;
  // Karpenter takes the cheapest capacity type first, and falls back to on-demand if there is no spot node to buy.
  std::vector<std::string> types{"spot"};
  std::string comment;
  if (std::ranges::find(base.capacity, "on-demand") != base.capacity.end()) {
    types.emplace_back("on-demand");
    comment = "spot while there is any, then on-demand";
  }
  const PoolPart burst{.name = pool.name + "-spot",
                       .capacity = types,
                       .nodes = pool.spot_nodes,
                       .weight = kSpotWeight,
                       .capacity_comment = comment};
  manifests.push_back(
      {.file = "nodes/" + burst.name + ".yaml", .body = node_pool(spec, pool, burst), .is_on_page = true});
  return manifests;
}

std::vector<Manifest> node_overlays(const PlanSpec& spec, const GpuPool& pool) {
  std::vector<Manifest> manifests;
  if (!device_label(pool)) return manifests;
  for (const MachineSpec& machine : pool.machines) {
    const std::string name =
        pool.machines.size() == 1 ? pool.name : fmt::format("{}-{}", pool.name, gpu_short_name(machine.name));
    Yaml object = kube_object("karpenter.sh/v1alpha1", "NodeOverlay", name);
    Yaml requirements = Yaml::list();
    requirements.add(pool_requirement(kPoolLabel, {pool.name}));
    requirements.add(pool_requirement("node.kubernetes.io/instance-type", {machine.name}));
    object["spec"].set("requirements", requirements);
    object["spec"]["capacity"].set(gpu_resource(spec.cluster.cloud, pool.gpu), machine.gpus * pool.mps_shares,
                                   "Karpenter knows no parts of GPUs; needs its feature gate NodeOverlay=true");
    manifests.push_back({.file = fmt::format("nodes/{}-overlay.yaml", name), .body = std::move(object)});
  }
  return manifests;
}

}  // namespace capstan::plan
