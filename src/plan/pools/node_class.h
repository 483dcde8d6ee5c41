#pragma once

#include "plan/pools/pools.h"
#include "plan/result/plan.h"

namespace capstan::plan {

/// The image of the nodes. It is pinned, because `@latest` would replace every GPU node on the day of a release.
inline constexpr std::string_view kNodeImage = "al2023@v20260903";

/// Size of the disk for the system, images and weights, GiB. All nodes of GKE and AKS have it, and the nodes on AWS
/// that have no NVMe disks of their own.
inline constexpr std::int64_t kLargeVolumeGib = 1000;

/// Returns true if the machines have local NVMe disks, on which images and weights lie.
bool has_instance_store(const GpuPool& pool);
/// Returns the size of the root volume on AWS, GiB: small where images and weights are on the NVMe disks.
std::int64_t root_volume_gib(const GpuPool& pool);

/// Returns the EC2NodeClass of a pool: image, role, subnets, disks.
Manifest ec2_node_class(const PlanSpec& spec, const GpuPool& pool);
/// Returns the AKSNodeClass of a pool.
Manifest aks_node_class(const GpuPool& pool);

}  // namespace capstan::plan
