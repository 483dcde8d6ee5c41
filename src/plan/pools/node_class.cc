#include "plan/pools/node_class.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "plan/objects/names.h"

namespace capstan::plan {

namespace {

/// Families with disks of their own, from the specifications of the instance types.
constexpr std::array<std::string_view, 15> kStoreFamilies = {"g4dn.", "g5.",  "g6.",   "g6e.",     "gr6.",
                                                             "g7.",   "g7e.", "p3dn.", "p4d.",     "p4de.",
                                                             "p5.",   "p5e.", "p5en.", "p6-b200.", "p6-b300."};

}  // namespace

bool has_instance_store(const GpuPool& pool) {
  return std::ranges::all_of(pool.machines, [](const MachineSpec& machine) {
    return std::ranges::any_of(kStoreFamilies,
                               [&](std::string_view family) { return machine.name.starts_with(family); });
  });
}

std::int64_t root_volume_gib(const GpuPool& pool) {
  constexpr std::int64_t kSystemGib = 200;  // two engine images of about 20 GB, logs, and the system
  return has_instance_store(pool) ? kSystemGib : kLargeVolumeGib;
}

Manifest ec2_node_class(const PlanSpec& spec, const GpuPool& pool) {
  const std::string& discovery = spec.cluster.karpenter_discovery;
  Yaml object = kube_object("karpenter.k8s.aws/v1", "EC2NodeClass", pool.name);
  Yaml& body = object["spec"];
  body.set(
      "amiSelectorTerms",
      Yaml::list({Yaml::map({{"alias", kNodeImage}})
                      .with_comment("a pinned release; @latest would replace the nodes on the day of a release")}));
  body.set("role", "KarpenterNodeRole-" + discovery);
  const Yaml terms = Yaml::list({Yaml::map({{"tags", Yaml::map({{"karpenter.sh/discovery", discovery}})}})});
  body.set("subnetSelectorTerms", terms);
  body.set("securityGroupSelectorTerms", terms);
  if (std::ranges::find(spec.cluster.capacity, model::CapacityType::reserved) != spec.cluster.capacity.end()) {
    body.set("capacityReservationSelectorTerms",
             Yaml::list({Yaml::map({{"tags", Yaml::map({{std::string(kPoolLabel), pool.name}})}})}),
             "tag your capacity reservations with this");
  }
  if (has_instance_store(pool))
    body.set("instanceStorePolicy", "RAID0", "images and weights are on the local NVMe disks");
  Yaml ebs =
      Yaml::map({{"volumeSize", fmt::format("{}Gi", root_volume_gib(pool))}, {"volumeType", "gp3"}, {"iops", 4000}});
  ebs.set("throughput", 1000, "MiB/s; the default of 125 reads an image eight times more slowly");
  ebs.set("encrypted", true);
  body.set("blockDeviceMappings", Yaml::list({Yaml::map({{"deviceName", "/dev/xvda"}, {"ebs", ebs}})}));
  body.set("tags", Yaml::map({{std::string(kPoolLabel), pool.name}}));
  return {.file = "nodes/" + pool.name + "-class.yaml", .body = std::move(object)};
}

Manifest aks_node_class(const GpuPool& pool) {
  Yaml object = kube_object("karpenter.azure.com/v1beta1", "AKSNodeClass", pool.name);
  object["spec"].set("imageFamily", "Ubuntu2204", "AKS installs the GPU driver in this image");
  object["spec"].set("osDiskSizeGB", kLargeVolumeGib);
  object["spec"].set("tags", Yaml::map({{"capstan.dev_pool", pool.name}}), "a tag of Azure has no slash");
  return {.file = "nodes/" + pool.name + "-class.yaml", .body = std::move(object)};
}

}  // namespace capstan::plan
