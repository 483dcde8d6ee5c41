#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/quantity.h"

namespace capstan::fleet {

/// The free GPUs of a node, device by device. A pod takes whole devices, a share of one device, or both. Four GPUs that
/// are half free hold four pods of half a GPU, and no pod of a whole GPU.
struct FreeGpus {
  MilliGpu sum;                     ///< free shares of all devices
  std::vector<MilliGpu> partial{};  ///< free shares of devices that are used in part, ascending, each below one GPU
  friend auto operator<=>(const FreeGpus&, const FreeGpus&) = default;

  GpuCount whole() const;  ///< devices that are free
};

/// Number that places() returns for pods without GPUs.
inline constexpr std::int64_t kManyPods = 1'000'000;

/// Returns how many pods with `gpus_per_pod` fit, if nothing else is placed between them; `kManyPods` for pods without
/// GPUs.
std::int64_t places(const FreeGpus& free, MilliGpu gpus_per_pod);

/// Takes the GPUs of a pod, which must be at most the free GPUs. A share is taken from the fullest device that has room
/// for it. If the pod does not fit on the devices, it takes the free parts of several devices.
void take(FreeGpus& free, MilliGpu gpus);

/// The GPUs that a pod holds on its node.
struct HeldGpus {
  MilliGpu gpus;
  std::span<const std::uint16_t> devices{};  ///< numbers of its devices, with equal shares; empty: not known
};

/// Returns the free GPUs of a node. Pods whose devices are not known are assumed to be packed well: the largest first,
/// each share on the fullest device that has room. If a device has vanished, its pods take room on the other devices,
/// because kubelet admits a new pod only if the requests of all pods are at most the allocatable GPUs.
/// @param gpus  allocatable GPUs of the node
FreeGpus free_gpus(MilliGpu gpus, std::vector<HeldGpus> held);

/// The devices of an empty node that pods need. The largest pod must be added first.
class NeededDevices {
 public:
  void add(MilliGpu pod) { take(left_, pod); }
  GpuCount count() const { return kMany - left_.whole(); }

 private:
  static constexpr GpuCount kMany = 1'000'000'000;
  FreeGpus left_{whole_gpus(kMany)};
};

}  // namespace capstan::fleet
