#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "plan/objects/names.h"
#include "plan/objects/scheduling.h"
#include "plan/queues/queues.h"

namespace capstan::plan {

namespace {

/// Prefixes of the machines that a cloud labels with their place in the network.
constexpr std::array<std::string_view, 3> kAwsNetworkLabelled = {"p4", "p5", "p6"};
constexpr std::array<std::string_view, 2> kGkeNetworkLabelled = {"a3-", "a4"};

bool all_start_with(const std::vector<GpuPool>& pools, std::span<const std::string_view> prefixes) {
  return std::ranges::all_of(pools, [&](const GpuPool& pool) {
    return std::ranges::all_of(pool.machines, [&](const MachineSpec& machine) {
      return std::ranges::any_of(prefixes, [&](std::string_view prefix) { return machine.name.starts_with(prefix); });
    });
  });
}

bool all_in_nvlink_racks(const std::vector<GpuPool>& pools) {
  return std::ranges::all_of(pools, [](const GpuPool& pool) {
    return std::ranges::all_of(pool.machines,
                               [](const MachineSpec& machine) { return machine.nvlink_domain_gpus > machine.gpus; });
  });
}

}  // namespace

std::vector<std::string> topology_levels(const PlanSpec& spec, const std::vector<GpuPool>& pools) {
  std::vector<std::string> levels{std::string(kZoneLabel)};
  if (spec.cluster.cloud == Cloud::aws && all_start_with(pools, kAwsNetworkLabelled))
    levels.emplace_back("topology.k8s.aws/network-node-layer-3");
  if (spec.cluster.cloud == Cloud::gcp && all_start_with(pools, kGkeNetworkLabelled))
    levels.emplace_back("cloud.google.com/gce-topology-block");
  if (all_in_nvlink_racks(pools)) levels.emplace_back(kNvlinkLabel);
  levels.emplace_back(kHostLabel);
  return levels;
}

Manifest topology_manifest(const QueueInput& input, std::string_view api_version, std::string_view folder) {
  Yaml object = kube_object(api_version, "Topology", cluster_queue_name(input.spec));
  Yaml levels = Yaml::list();
  for (const std::string& level : topology_levels(input.spec, input.pools))
    levels.add(Yaml::map({{"nodeLabel", level}}));
  object["spec"].set("levels", levels, "a node without one of these labels is outside the topology");
  return {.file = fmt::format("gangs/{}/topology.yaml", folder), .body = std::move(object)};
}

}  // namespace capstan::plan
