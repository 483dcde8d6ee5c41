#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kube/meta.h"

namespace capstan::kube {

/// A device of a ResourceSlice, with some of the attributes that drivers of GPUs publish.
/// https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/
struct Device {
  std::string name;
  std::string type;  ///< "gpu", "mig", "vfio" of gpu.nvidia.com, "amdgpu" of gpu.amd.com; empty: not stated
  std::string uuid;
  std::string parent_uuid;  ///< UUID of the GPU that a MIG device is a part of
  std::string product;      ///< "NVIDIA H100 80GB HBM3"
  friend bool operator==(const Device&, const Device&) = default;
};

/// Devices that a driver offers (resource.k8s.io). The slices of one driver and pool with the highest generation
/// describe the pool.
struct ResourceSlice {
  Meta meta;
  std::string driver;
  std::string pool;
  std::int64_t generation = 0;
  std::string node;  ///< node of the devices; empty: they belong to several nodes
  std::vector<Device> devices;
  friend bool operator==(const ResourceSlice&, const ResourceSlice&) = default;
};

/// Reads a slice of version v1, v1beta2 or v1beta1.
ResourceSlice read_resource_slice(Json object);

/// A claim on devices (resource.k8s.io) and the devices allocated to it.
struct ResourceClaim {
  struct Grant {
    std::string driver;
    std::string pool;
    std::string device;
    friend bool operator==(const Grant&, const Grant&) = default;
  };

  Meta meta;
  /// Allocated devices. Devices with `adminAccess` are left out, because they stay free for other claims.
  std::vector<Grant> grants;
  std::string node;                       ///< the one node where the devices are; empty: not stated
  std::vector<std::string> reserved_for;  ///< UIDs of the pods that may use the devices
  /// True if the scheduler made the claim for a pod that requests an extended resource such as nvidia.com/gpu.
  bool is_for_extended_resource = false;
  friend bool operator==(const ResourceClaim&, const ResourceClaim&) = default;
};

ResourceClaim read_resource_claim(Json object);

}  // namespace capstan::kube
