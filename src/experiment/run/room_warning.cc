#include "experiment/run/room_warning.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/quantity.h"
#include "base/unit_text.h"
#include "sim/cluster/topology.h"

namespace capstan::experiment {
namespace {

constexpr std::int64_t kMaxRacks = 10'000;  ///< largest racks_per_zone that a scenario may state

/// The racks and NVLink domains of the cluster. They are the same for each zone.
struct Racks {
  std::int64_t per_zone = 0;
  std::int64_t places_per_rack = 0;
};

Racks racks_of(const sim::ClusterConfig& cluster) {
  const std::int64_t per_rack = sim::nvlink_domains_in(*cluster.catalog, model::TopologyLevel::rack);
  if (per_rack == 0) return {};
  return {sim::nvlink_domains_in(*cluster.catalog, model::TopologyLevel::zone) / per_rack,
          per_rack * cluster.provider.nodes_per_nvlink_domain};
}

/// Returns the GPUs of the smallest machine in a pool that can hold a pod; 0 if there is none.
GpuCount smallest_machine(const model::Catalog& catalog, model::GpuKindId gpu, GpuCount pod_gpus) {
  GpuCount smallest = 0;
  for (const model::Pool& pool : catalog.pools) {
    for (const model::OfferingId id : pool.offerings) {
      const model::Offering& offering = catalog.offering(id);
      if (offering.gpu != gpu || offering.gpus < pod_gpus) continue;
      smallest = smallest == 0 ? offering.gpus : std::min(smallest, offering.gpus);
    }
  }
  return smallest;
}

/// Returns the machines that the replicas of all services need at their maximum, on the smallest machine that can hold
/// a pod, and the machines that exist from the start.
std::int64_t most_machines(const sim::ClusterConfig& cluster) {
  const model::Catalog& catalog = *cluster.catalog;
  std::int64_t machines = 0;
  for (const sim::ExistingNodes& nodes : cluster.existing) machines += nodes.count;
  for (const model::Service& service : catalog.services) {
    const model::Workload& workload = service.workload;
    const GpuCount pods = std::max<GpuCount>(1, workload.pods);
    const GpuCount pod_gpus = std::max<GpuCount>(1, workload.gpus_per_replica / pods);
    const GpuCount machine = smallest_machine(catalog, workload.gpu, pod_gpus);
    if (machine == 0) continue;
    const bool shares_node = workload.required_level == model::TopologyLevel::node && pod_gpus * pods <= machine;
    machines += shares_node ? ceil_div(service.max_replicas, machine / (pod_gpus * pods))
                            : ceil_div(service.max_replicas * pods, machine / pod_gpus);
  }
  return machines;
}

}  // namespace

std::string room_warning(const sim::ClusterConfig& cluster, std::int64_t launches) {
  const Racks racks = racks_of(cluster);
  const std::int64_t places = racks.per_zone * racks.places_per_rack;
  std::string text =
      fmt::format("{} found no room: the {} of a zone {} for {}", count_text(launches, "launch", "launches"),
                  count_text(racks.per_zone, "rack", "racks"), racks.per_zone == 1 ? "has places" : "have places",
                  count_text(places, "machine", "machines"));
  const std::int64_t enough = racks.places_per_rack == 0 ? 0 : ceil_div(most_machines(cluster), racks.places_per_rack);
  if (enough <= racks.per_zone || enough > kMaxRacks) {
    return text + " (cluster.racks_per_zone, nvlink_domains_per_rack, nodes_per_nvlink_domain)";
  }
  return text + fmt::format(
                    "; with cluster.racks_per_zone: {} there are places for {}, enough for all replicas at their "
                    "maximum{}",
                    enough, enough * racks.places_per_rack,
                    cluster.job_classes.empty() ? "" : "; jobs need further places");
}

}  // namespace capstan::experiment
