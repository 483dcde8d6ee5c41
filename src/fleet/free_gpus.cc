#include "fleet/free_gpus.h"

#include <algorithm>

namespace capstan::fleet {
namespace {

constexpr std::int64_t kDevice = 1'000;  ///< one whole device, in milli-GPUs

void insert(std::vector<MilliGpu>& partial, MilliGpu share) {
  if (share > MilliGpu{}) partial.insert(std::ranges::upper_bound(partial, share), share);
}

/// Subtracts `by` from the free share of a device that is used in part.
void subtract_share(std::vector<MilliGpu>& partial, std::vector<MilliGpu>::iterator device, MilliGpu by) {
  const MilliGpu left = *device - by;
  partial.erase(device);
  insert(partial, left);
}

}  // namespace

GpuCount FreeGpus::whole() const {
  std::int64_t rest = sum.count;
  for (const MilliGpu share : partial) rest -= share.count;
  return rest / kDevice;
}

std::int64_t places(const FreeGpus& free, MilliGpu gpus_per_pod) {
  const std::int64_t devices = gpus_per_pod.count / kDevice, share = gpus_per_pod.count % kDevice;
  if (gpus_per_pod == MilliGpu{}) return kManyPods;
  const std::int64_t whole = free.whole();
  if (share == 0) return whole / devices;
  std::int64_t shares = 0;  // shares that fit on devices in use
  for (const MilliGpu part : free.partial) shares += part.count / share;
  const std::int64_t per_device = kDevice / share;
  if (devices == 0) return shares + whole * per_device;
  const auto needs = [&](std::int64_t pods) {
    return pods * devices + ceil_div(std::max<std::int64_t>(pods - shares, 0), per_device);
  };
  std::int64_t pods = whole / devices;
  while (pods > 0 && needs(pods) > whole) --pods;
  return pods;
}

void take(FreeGpus& free, MilliGpu gpus) {
  const GpuCount whole = free.whole(), devices = gpus.count / kDevice;
  const MilliGpu share{gpus.count % kDevice};
  // If too few devices are free, the rest of the GPUs is taken from the free parts of devices in use.
  MilliGpu spilled = whole_gpus(std::max<GpuCount>(devices - whole, 0));
  if (share > MilliGpu{}) {
    const auto fitting = std::ranges::lower_bound(free.partial, share);
    if (fitting != free.partial.end()) {
      subtract_share(free.partial, fitting, share);
    } else if (whole > devices) {
      insert(free.partial, MilliGpu{kDevice} - share);
    } else {
      spilled += share;
    }
  }
  free.sum -= gpus;
  while (spilled > MilliGpu{} && !free.partial.empty()) {
    const MilliGpu part = std::min(spilled, free.partial.back());
    subtract_share(free.partial, free.partial.end() - 1, part);
    spilled -= part;
  }
}

FreeGpus free_gpus(MilliGpu gpus, std::vector<HeldGpus> held) {
  std::vector<MilliGpu> devices(static_cast<std::size_t>(gpus.count / kDevice), MilliGpu{kDevice});
  if (gpus.count % kDevice > 0) devices.push_back({gpus.count % kDevice});
  for (HeldGpus& pod : held) {
    const MilliGpu share{pod.gpus.count / std::max<std::int64_t>(std::ssize(pod.devices), 1)};
    for (const std::uint16_t device : pod.devices) {
      if (device >= devices.size()) continue;
      devices[device] = std::max(MilliGpu{}, devices[device] - share);
      pod.gpus -= share;
    }
  }
  FreeGpus free;
  for (const MilliGpu left : devices) {
    free.sum += left;
    if (left < MilliGpu{kDevice}) insert(free.partial, left);
  }
  // The GPUs of a pod that remain here are on devices that are unknown or that no longer exist. They are taken from the
  // free GPUs of any device.
  std::ranges::sort(held, std::ranges::greater{}, &HeldGpus::gpus);
  for (const HeldGpus& pod : held) take(free, std::min(pod.gpus, free.sum));
  return free;
}

}  // namespace capstan::fleet
