#include "plan/sections/cluster_autoscaler.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "plan/names.h"
#include "plan/sections/karpenter.h"
#include "plan/sections/node_class.h"

namespace capstan::plan {

namespace {

/// A group of equal nodes in one zone. A group that spans zones could not be asked for a node in a certain zone.
struct NodeGroup {
  std::string name{};
  const GpuPool* pool = nullptr;
  std::string zone{};
  std::int64_t minimum = 0, maximum = 0;
  bool is_spot = false;
};

std::string zone_suffix(const ClusterSpec& cluster, const std::string& zone) {
  std::string suffix = zone.starts_with(cluster.region) ? zone.substr(cluster.region.size()) : zone;
  return suffix.starts_with('-') ? suffix : "-" + suffix;
}

std::vector<NodeGroup> groups_of(const PlanSpec& spec, const std::vector<GpuPool>& pools) {
  std::vector<NodeGroup> groups;
  const auto zones = static_cast<std::int64_t>(spec.cluster.zones.size());
  for (const GpuPool& pool : pools) {
    for (std::int64_t i = 0; i < zones; ++i) {
      const std::string& zone = spec.cluster.zones[static_cast<std::size_t>(i)];
      const std::string suffix = zone_suffix(spec.cluster, zone);
      // Each zone may grow to the size of the whole fleet, because the other zones may have no capacity.
      groups.push_back({.name = pool.name + suffix,
                        .pool = &pool,
                        .zone = zone,
                        .minimum = pool.base_nodes / zones + (i < pool.base_nodes % zones ? 1 : 0),
                        .maximum = pool.max_nodes - pool.spot_nodes});
      if (pool.spot_nodes > 0) {
        groups.push_back({.name = pool.name + "-spot" + suffix,
                          .pool = &pool,
                          .zone = zone,
                          .maximum = pool.spot_nodes,
                          .is_spot = true});
      }
    }
  }
  return groups;
}

Yaml eksctl_group(Cloud cloud, const NodeGroup& group) {
  const GpuPool& pool = *group.pool;
  Yaml entry = Yaml::map({{"name", group.name}});
  Yaml types = Yaml::list();
  for (const MachineSpec& machine : pool.machines) types.add(machine.name);
  entry.set("instanceTypes", types);
  if (group.is_spot) entry.set("spot", true);
  entry.set("amiFamily", "AmazonLinux2023");
  entry.set("availabilityZones", Yaml::list({Yaml(group.zone)}));
  entry.set("minSize", group.minimum);
  entry.set("desiredCapacity", group.minimum);
  entry.set("maxSize", group.maximum);
  entry.set("volumeSize", root_volume_gib(pool));
  entry.set("volumeType", "gp3");
  entry.set("volumeIOPS", 4000);
  entry.set("volumeThroughput", 1000);
  if (has_instance_store(pool)) {
    entry.set("overrideBootstrapCommand",
              "apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n  instance:\n    localStorage:\n"
              "      strategy: RAID0\n",
              "images and weights are on the local NVMe disks");
  }
  entry.set("labels", pool_selector(pool.name));
  if (mig_profile_of(pool.gpu)) entry["labels"].set("nvidia.com/mig.config", pool.name);
  entry.set("taints", Yaml::list({Yaml::map({{"key", kGpuTaint}, {"value", "present"}, {"effect", "NoSchedule"}})}));
  Yaml tags = Yaml::map({{"k8s.io/cluster-autoscaler/enabled", "true"}});
  const std::string node = "k8s.io/cluster-autoscaler/node-template/";
  tags.set(node + "label/" + std::string(kPoolLabel), pool.name, "an empty group shows its nodes by these tags");
  tags.set(node + "taint/" + std::string(kGpuTaint), "present:NoSchedule");
  tags.set(node + "resources/" + gpu_resource(cloud, pool.gpu), std::to_string(pool.gpus_per_node()));
  entry.set("tags", tags);
  return entry;
}

Manifest eksctl_file(const PlanSpec& spec, const std::vector<NodeGroup>& groups) {
  Yaml body = Yaml::map({{"apiVersion", "eksctl.io/v1alpha5"}, {"kind", "ClusterConfig"}});
  body["metadata"].set("name", spec.cluster.karpenter_discovery);
  body["metadata"].set("region", spec.cluster.region);
  Yaml list = Yaml::list();
  for (const NodeGroup& group : groups) list.add(eksctl_group(spec.cluster.cloud, group));
  body.set("managedNodeGroups", list);
  return {.file = "nodes/eksctl/node-groups.yaml", .body = std::move(body), .is_object = false, .is_on_page = true};
}

Manifest autoscaler_values(const PlanSpec& spec) {
  Yaml body = Yaml::map({{"cloudProvider", "aws"}, {"awsRegion", spec.cluster.region}});
  body["autoDiscovery"].set("clusterName", spec.cluster.karpenter_discovery);
  Yaml& flags = body["extraArgs"];
  flags.set("expander", "priority,least-waste");
  flags.set("balance-similar-node-groups", true, "spreads the nodes over the zones");
  flags.set("scale-down-unneeded-time", kConsolidateAfter, "the next burst finds the node still there");
  flags.set("scale-down-gpu-utilization-threshold", "0.01",
            "below one GPU of a node: only empty nodes go, because moving a replica costs a cold start");
  flags.set("skip-nodes-with-system-pods", false);
  flags.set("max-graceful-termination-sec", kNodeGraceMinutes * 60,
            "longer than any pod's, so that answers end before the node does");
  flags.set("max-node-provision-time", "15m", "then another group is tried");
  body["serviceMonitor"].set("enabled", true, "the alerts on removed nodes read its metrics");
  return {.file = "nodes/values/cluster-autoscaler.yaml", .body = std::move(body), .is_object = false};
}

Manifest priority_expander(const std::vector<NodeGroup>& groups) {
  std::string base, spot;
  for (const NodeGroup& group : groups) (group.is_spot ? spot : base) += fmt::format("- ^eks-{}-.*\n", group.name);
  std::string priorities = "50:\n" + base;
  if (!spot.empty()) priorities += "10:\n" + spot;
  Yaml body = kube_object("v1", "ConfigMap", "cluster-autoscaler-priority-expander", "kube-system");
  body["data"].set("priorities", priorities);
  return {.file = "nodes/cluster-autoscaler-priority-expander.yaml", .body = std::move(body)};
}

constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kGkeGpus = {
    {{"t4", "nvidia-tesla-t4"},
     {"l4", "nvidia-l4"},
     {"a100-40g", "nvidia-tesla-a100"},
     {"a100", "nvidia-a100-80gb"},
     {"h100", "nvidia-h100-80gb"},
     {"h200", "nvidia-h200-141gb"},
     {"b200", "nvidia-b200"},
     {"rtx-pro-6000", "nvidia-rtx-pro-6000"}}};

std::string gke_command(const PlanSpec& spec, const GpuPool& pool, bool is_spot) {
  const MachineSpec& machine = pool.machines.front();
  std::string zones;
  for (const std::string& zone : spec.cluster.zones) zones += (zones.empty() ? "" : ",") + zone;
  const std::int64_t maximum = is_spot ? pool.spot_nodes : pool.max_nodes - pool.spot_nodes;
  std::string accelerator =
      fmt::format("type={},count={},gpu-driver-version=latest", gke_accelerator(machine), pool.whole_gpus_per_node());
  if (const auto profile = mig_profile_of(pool.gpu)) accelerator += ",gpu-partition-size=" + *profile;
  return fmt::format(
      "gcloud container node-pools create {}{} --cluster {} --region {} --node-locations {} --machine-type {} "
      "--accelerator {} --disk-size {} --enable-autoscaling --total-min-nodes {} --total-max-nodes {} "
      "--location-policy {} "
      "--node-labels {}={} --node-taints {}=present:NoSchedule{}",
      pool.name, is_spot ? "-spot" : "", spec.cluster.karpenter_discovery, spec.cluster.region, zones, machine.name,
      accelerator, kLargeVolumeGib, is_spot ? 0 : pool.base_nodes, maximum, is_spot ? "ANY" : "BALANCED", kPoolLabel,
      pool.name, kGpuTaint, is_spot ? " --spot" : "");
}

std::string aks_command(const PlanSpec& spec, const GpuPool& pool, bool is_spot) {
  // The name of a node pool of AKS has at most 12 lower-case letters and digits.
  std::string name;
  for (const char c : pool.name) {
    if (c != '-' && c != '.') name += c;
  }
  name = name.substr(0, is_spot ? 8 : 12) + (is_spot ? "spot" : "");
  std::string zones;
  for (const std::string& zone : spec.cluster.zones) zones += " " + zone_suffix(spec.cluster, zone).substr(1);
  return fmt::format(
      "az aks nodepool add --resource-group \"$RESOURCE_GROUP\" --cluster-name {} --name {} --node-vm-size {} "
      "--node-osdisk-size {} --zones{} --enable-cluster-autoscaler --min-count {} --max-count {} --labels {}={} "
      "--node-taints {}=present:NoSchedule{}",
      spec.cluster.karpenter_discovery, name, pool.machines.front().name, kLargeVolumeGib, zones,
      is_spot ? 0 : pool.base_nodes, is_spot ? pool.spot_nodes : pool.max_nodes - pool.spot_nodes, kPoolLabel,
      pool.name, kGpuTaint, is_spot ? " --priority Spot --eviction-policy Delete --spot-max-price -1" : "");
}

using PoolCommand = std::string (*)(const PlanSpec&, const GpuPool&, bool is_spot);

std::vector<std::string> pool_commands(const PlanSpec& spec, const std::vector<GpuPool>& pools, PoolCommand command) {
  std::vector<std::string> commands;
  for (const GpuPool& pool : pools) {
    if (spec.cluster.cloud == Cloud::gcp && gke_accelerator(pool.machines.front()).empty()) continue;
    commands.push_back(command(spec, pool, false));
    if (pool.spot_nodes > 0) commands.push_back(command(spec, pool, true));
  }
  return commands;
}

}  // namespace

std::vector<Manifest> node_groups(const PlanSpec& spec, const std::vector<GpuPool>& pools) {
  const std::vector<NodeGroup> groups = groups_of(spec, pools);
  return {eksctl_file(spec, groups), autoscaler_values(spec), priority_expander(groups)};
}

std::vector<std::string> gke_node_pools(const PlanSpec& spec, const std::vector<GpuPool>& pools) {
  return pool_commands(spec, pools, gke_command);
}

std::vector<std::string> aks_node_pools(const PlanSpec& spec, const std::vector<GpuPool>& pools) {
  return pool_commands(spec, pools, aks_command);
}

std::vector<std::string> label_nodes(const std::vector<GpuPool>& pools) {
  std::vector<std::string> commands;
  for (const GpuPool& pool : pools) {
    for (const MachineSpec& machine : pool.machines) {
      const std::string nodes = "--selector node.kubernetes.io/instance-type=" + machine.name;
      commands.push_back(fmt::format("kubectl label nodes --overwrite {} {}={}", nodes, kPoolLabel, pool.name));
      commands.push_back(fmt::format("kubectl taint nodes --overwrite {} {}=present:NoSchedule", nodes, kGpuTaint));
    }
  }
  return commands;
}

std::string_view gke_accelerator(const MachineSpec& machine) {
  if (machine.name.starts_with("a3-megagpu")) return "nvidia-h100-mega-80gb";
  const std::string name = gpu_short_name(whole_gpu_of(machine.gpu));
  for (const auto& [gpu, accelerator] : kGkeGpus) {
    if (gpu == name) return accelerator;
  }
  return {};
}

}  // namespace capstan::plan
