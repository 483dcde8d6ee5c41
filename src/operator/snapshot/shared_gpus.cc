#include "operator/snapshot/shared_gpus.h"

#include <algorithm>
#include <optional>

#include "manifest/quantity.h"
#include "manifest/scalars.h"
#include "operator/snapshot/waiting_gangs.h"
#include "operator/view/cluster_view.h"

namespace capstan::op {
namespace {

constexpr std::string_view kFraction = "gpu-fraction";
constexpr std::string_view kDevices = "gpu-fraction-num-devices";
constexpr std::string_view kGroup = "runai-gpu-group";
constexpr std::string_view kGroupOfSeveral = "runai-gpu-group/";

/// Returns the share of one GPU that a pod states, above 0 and at most 1. Returns none if the pod states no share, or
/// if Capstan places it, because Capstan cannot divide GPUs.
std::optional<MilliGpu> share_of(const kube::Pod& pod) {
  const std::string* text = pod.meta.annotations.find(kFraction);
  if (text == nullptr || pod.spec.scheduler == kScheduler) return std::nullopt;
  const std::optional<std::int64_t> milli = manifest::read_quantity_milli(*text);
  if (!milli || *milli <= 0 || *milli > 1'000) return std::nullopt;
  return MilliGpu{*milli};
}

/// Returns the number of GPUs of which a pod asks for a share.
GpuCount devices_asked(const kube::Pod& pod) {
  const std::string* text = pod.meta.annotations.find(kDevices);
  const std::optional<GpuCount> devices = text != nullptr ? manifest::read_integer(*text) : std::nullopt;
  return std::clamp<GpuCount>(devices.value_or(1), 1, 1'024);
}

/// Returns the GPU groups of a pod, ascending.
std::vector<std::string> groups_of(const kube::Pod& pod) {
  std::vector<std::string> groups;
  for (const auto& [key, value] : pod.meta.labels.entries()) {
    if (key == kGroup || key.starts_with(kGroupOfSeveral)) groups.push_back(value);
  }
  std::ranges::sort(groups);
  return groups;
}

}  // namespace

SharedGpus::SharedGpus(const kube::StoreSnapshot<kube::Pod>& pods) {
  pods.for_each([&](kube::RowId, const kube::Pod& pod) {
    if (pod.over()) return;
    const bool has_share = share_of(pod).has_value();
    const bool is_reservation = !has_share && pod.bound() && gpus_of(pod.spec.requests) > MilliGpu{};
    for (const std::string& name : groups_of(pod)) {
      Group& group = groups_[name];
      if (is_reservation) {
        group.node = pod.spec.node;
      } else {
        (has_share ? group.has_share : group.has_unknown_share) = true;
      }
    }
  });
  for (auto& [name, group] : groups_) {
    if (group.is_divided()) group.number = divided_[group.node]++;
  }
}

const SharedGpus::Group* SharedGpus::divided(std::string_view group) const {
  const auto found = groups_.find(group);
  return found != groups_.end() && found->second.is_divided() ? &found->second : nullptr;
}

MilliGpu SharedGpus::pod_gpus(const kube::Pod& pod, MilliGpu requested) const {
  const std::optional<MilliGpu> share = share_of(pod);
  const std::vector<std::string> groups = groups_of(pod);
  if (!share && groups.empty()) return requested;
  const bool all = std::ranges::all_of(groups, [&](const std::string& name) { return divided(name) != nullptr; });
  if (!all) return requested;
  return share ? requested + *share * devices_asked(pod) : MilliGpu{};
}

std::vector<std::uint16_t> SharedGpus::devices_of(const kube::Pod& pod) const {
  std::vector<std::uint16_t> devices;
  if (!share_of(pod)) return devices;
  for (const std::string& name : groups_of(pod)) {
    const Group* group = divided(name);
    if (group != nullptr) devices.push_back(group->number);
  }
  std::ranges::sort(devices);
  return devices;
}

bool SharedGpus::depends_on(const kube::Pod& pod) { return !groups_of(pod).empty(); }

}  // namespace capstan::op
