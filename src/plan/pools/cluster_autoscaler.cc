#include "plan/pools/cluster_autoscaler.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/unit_text.h"
#include "plan/objects/names.h"
#include "plan/pools/karpenter.h"
#include "plan/pools/node_class.h"

namespace capstan::plan {

namespace {

/// On AWS, the Cluster Autoscaler applies a limit of GPUs to all nodes with the same value of this label.
constexpr std::string_view kCountedLabel = "k8s.amazonaws.com/accelerator";

/// A group of equal nodes in one zone. A group that spans zones could not be asked for a node in a certain zone.
struct NodeGroup {
  std::string name{};
  std::string kind{};  ///< "h100" or "h100-spot": groups that share a limit; the value of `kCountedLabel`
  const GpuPool* pool = nullptr;
  std::string zone{};
  std::int64_t minimum = 0, maximum = 0;
  bool is_spot = false;
};

std::string zone_suffix(const ClusterSpec& cluster, const std::string& zone) {
  std::string suffix = zone.starts_with(cluster.region) ? zone.substr(cluster.region.size()) : zone;
  return suffix.starts_with('-') ? suffix : "-" + suffix;
}

/// Divides nodes evenly over zones and returns the nodes of one zone. The first zones get the remainder.
std::int64_t part_of_zone(std::int64_t nodes, std::int64_t zones, std::int64_t zone) {
  return nodes / zones + (zone < nodes % zones ? 1 : 0);
}

/// Returns true if the Cluster Autoscaler can count the GPUs of the pool. It cannot count MIG slices: with
/// `kCountedLabel` but without a whole GPU, a node would never count as ready.
bool is_counted(const GpuPool& pool) { return !mig_profile_of(pool.gpu); }

std::vector<NodeGroup> groups_of(const PlanSpec& spec, const std::vector<GpuPool>& pools) {
  std::vector<NodeGroup> groups;
  const auto zones = static_cast<std::int64_t>(spec.cluster.zones.size());
  for (const GpuPool& pool : pools) {
    for (std::int64_t i = 0; i < zones; ++i) {
      const std::string& zone = spec.cluster.zones[static_cast<std::size_t>(i)];
      const std::string suffix = zone_suffix(spec.cluster, zone);
      // Each zone may grow to the size of the whole fleet, because the other zones may have no capacity. The flag
      // gpu-total limits all zones together. It cannot count MIG slices, so nodes with slices are divided between
      // zones.
      const auto maximum = [&](std::int64_t nodes) { return is_counted(pool) ? nodes : part_of_zone(nodes, zones, i); };
      groups.push_back({.name = pool.name + suffix,
                        .kind = pool.name,
                        .pool = &pool,
                        .zone = zone,
                        .minimum = part_of_zone(pool.minimum_nodes(false), zones, i),
                        .maximum = maximum(pool.limit_nodes()),
                        .is_spot = pool.base == model::CapacityType::spot});
      if (pool.spot_nodes > 0) {
        groups.push_back({.name = pool.name + "-spot" + suffix,
                          .kind = pool.name + "-spot",
                          .pool = &pool,
                          .zone = zone,
                          .minimum = part_of_zone(pool.minimum_nodes(true), zones, i),
                          .maximum = maximum(pool.spot_nodes),
                          .is_spot = true});
      }
    }
  }
  return groups;
}

/// Returns the labels of the nodes of a pool for a command: "capstan.dev/pool=h100".
std::string label_words(const PlanSpec& spec, const GpuPool& pool, char separator) {
  std::string words;
  for (const auto& [key, value] : node_labels(spec.cluster, pool.name)) {
    if (!words.empty()) words += separator;
    words += fmt::format("{}={}", key, value);
  }
  return words;
}

Yaml eksctl_group(const ClusterSpec& cluster, const NodeGroup& group) {
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
  for (const auto& [key, value] : node_labels(cluster, pool.name)) entry["labels"].set(key, value);
  if (is_counted(pool)) entry["labels"].set(kCountedLabel, group.kind, "the flag gpu-total counts by it");
  if (const auto label = device_label(pool)) entry["labels"].set(label->key, label->value, label->comment);
  entry.set("taints", Yaml::list({Yaml::map({{"key", kGpuTaint}, {"value", "present"}, {"effect", "NoSchedule"}})}));
  Yaml tags = Yaml::map({{"k8s.io/cluster-autoscaler/enabled", "true"}});
  const std::string node = "k8s.io/cluster-autoscaler/node-template/";
  tags.set(node + "label/" + std::string(kPoolLabel), pool.name, "an empty group shows its nodes by these tags");
  if (is_counted(pool)) tags.set(node + "label/" + std::string(kCountedLabel), group.kind);
  tags.set(node + "taint/" + std::string(kGpuTaint), "present:NoSchedule");
  tags.set(node + "resources/" + gpu_resource(cluster.cloud, pool.gpu),
           std::to_string(pool.gpus_per_node() * pool.mps_shares));
  entry.set("tags", tags);
  return entry;
}

Manifest eksctl_file(const PlanSpec& spec, const std::vector<NodeGroup>& groups) {
  Yaml body = Yaml::map({{"apiVersion", "eksctl.io/v1alpha5"}, {"kind", "ClusterConfig"}});
  body["metadata"].set("name", spec.cluster.karpenter_discovery);
  body["metadata"].set("region", spec.cluster.region);
  Yaml list = Yaml::list();
  for (const NodeGroup& group : groups) list.add(eksctl_group(spec.cluster, group));
  body.set("managedNodeGroups", list);
  return {.file = "nodes/eksctl/node-groups.yaml", .body = std::move(body), .is_object = false, .is_on_page = true};
}

/// Limits the GPUs of all zones together. The chart takes several flags of one name as NAME_1, NAME_2.
void set_gpu_limits(const std::vector<GpuPool>& pools, Yaml& flags) {
  int number = 0;
  for (const GpuPool& pool : pools) {
    for (const bool is_spot : {false, true}) {
      const std::int64_t nodes = is_spot ? pool.spot_nodes : pool.limit_nodes();
      if (!is_counted(pool) || (is_spot && nodes == 0)) continue;
      flags.set(fmt::format("gpu-total_{}", ++number),
                fmt::format("{}{}:0:{}", pool.name, is_spot ? "-spot" : "",
                            nodes * pool.whole_gpus_per_node() * pool.mps_shares),
                fmt::format("all zones together: {}; counted by the label {}", count_text(nodes, "node", "nodes"),
                            kCountedLabel));
    }
  }
}

Manifest autoscaler_values(const PlanSpec& spec, const std::vector<GpuPool>& pools) {
  Yaml body = Yaml::map({{"cloudProvider", "aws"}, {"awsRegion", spec.cluster.region}});
  body["autoDiscovery"].set("clusterName", spec.cluster.karpenter_discovery);
  Yaml& flags = body["extraArgs"];
  flags.set("expander", "priority,least-waste");
  flags.set("balance-similar-node-groups", true, "spreads the nodes over the zones");
  set_gpu_limits(pools, flags);
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
  const std::int64_t maximum = is_spot ? pool.spot_nodes : pool.limit_nodes();
  // gcloud creates 3 nodes in each zone if the command does not say how many.
  const auto zone_count = static_cast<std::int64_t>(std::max<std::size_t>(1, spec.cluster.zones.size()));
  const std::int64_t first_per_zone = pool.minimum_nodes(is_spot) / zone_count;
  std::string accelerator =
      fmt::format("type={},count={},gpu-driver-version=latest", gke_accelerator(machine), pool.whole_gpus_per_node());
  if (const auto profile = mig_profile_of(pool.gpu)) accelerator += ",gpu-partition-size=" + *profile;
  if (pool.mps_shares > 1)
    accelerator += fmt::format(",gpu-sharing-strategy=mps,max-shared-clients-per-gpu={}", pool.mps_shares);
  return fmt::format(
      "gcloud container node-pools create {}{} --cluster {} --region {} --node-locations {} --machine-type {} "
      "--accelerator {} --disk-size {} --num-nodes {} --enable-autoscaling --total-min-nodes {} --total-max-nodes {} "
      "--location-policy {} "
      "--node-labels {} --node-taints {}=present:NoSchedule{}",
      pool.name, is_spot ? "-spot" : "", spec.cluster.karpenter_discovery, spec.cluster.region, zones, machine.name,
      accelerator, kLargeVolumeGib, first_per_zone, pool.minimum_nodes(is_spot), maximum, is_spot ? "ANY" : "BALANCED",
      label_words(spec, pool, ','), kGpuTaint, is_spot || pool.base == model::CapacityType::spot ? " --spot" : "");
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
  // az creates 3 nodes if the command does not say how many, and refuses a number outside of the bounds.
  const std::int64_t minimum = pool.minimum_nodes(is_spot);
  const std::optional<DeviceLabel> label = device_label(pool);
  return fmt::format(
      "az aks nodepool add --resource-group \"$RESOURCE_GROUP\" --cluster-name {} --name {} --node-vm-size {} "
      "--node-osdisk-size {} --zones{} --node-count {} --enable-cluster-autoscaler --min-count {} --max-count {} "
      "--labels {}{} "
      "--node-taints {}=present:NoSchedule{}",
      spec.cluster.karpenter_discovery, name, pool.machines.front().name, kLargeVolumeGib, zones, minimum, minimum,
      is_spot ? pool.spot_nodes : pool.limit_nodes(), label_words(spec, pool, ' '),
      label ? fmt::format(" {}={}", label->key, label->value) : "", kGpuTaint,
      is_spot || pool.base == model::CapacityType::spot
          ? " --priority Spot --eviction-policy Delete --spot-max-price -1"
          : "");
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
  return {eksctl_file(spec, groups), autoscaler_values(spec, pools), priority_expander(groups)};
}

std::vector<std::string> gke_node_pools(const PlanSpec& spec, const std::vector<GpuPool>& pools) {
  return pool_commands(spec, pools, gke_command);
}

std::vector<std::string> aks_node_pools(const PlanSpec& spec, const std::vector<GpuPool>& pools) {
  return pool_commands(spec, pools, aks_command);
}

std::vector<std::string> label_nodes(const PlanSpec& spec, const std::vector<GpuPool>& pools) {
  std::vector<std::string> commands;
  for (const GpuPool& pool : pools) {
    for (const MachineSpec& machine : pool.machines) {
      const std::string nodes = "--selector node.kubernetes.io/instance-type=" + machine.name;
      commands.push_back(fmt::format("kubectl label nodes --overwrite {} {}", nodes, label_words(spec, pool, ' ')));
      if (const auto label = device_label(pool))
        commands.push_back(fmt::format("kubectl label nodes --overwrite {} {}={}", nodes, label->key, label->value));
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
