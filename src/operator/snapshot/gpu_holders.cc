#include "operator/snapshot/gpu_holders.h"

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "kube/device_views.h"

namespace capstan::op {
namespace {

using kube::Device;
using kube::ResourceClaim;
using kube::ResourceSlice;

using PoolKey = std::pair<std::string_view, std::string_view>;                       // driver, pool
using DeviceKey = std::tuple<std::string_view, std::string_view, std::string_view>;  // driver, pool, device

bool offers_gpus(std::string_view driver) { return driver.starts_with("gpu."); }

/// Returns the identity of a device's GPU, the same for all MIG devices of one GPU; none if the GPU is unknown.
std::optional<std::string> gpu_of(const Device& device, const DeviceKey& key) {
  if (!device.parent_uuid.empty()) return device.parent_uuid;
  const bool is_whole = device.type.empty() || device.type == "gpu" || device.type == "amdgpu";
  if (!is_whole) return std::nullopt;
  if (!device.uuid.empty()) return device.uuid;
  const auto& [driver, pool, name] = key;
  return std::string(driver) + "/" + std::string(pool) + "/" + std::string(name);
}

/// Returns the text of a node label for a product, as NVIDIA's GPU feature discovery writes it.
std::string label_of(std::string product) {
  std::ranges::replace(product, ' ', '-');
  return product;
}

/// The devices in the ResourceSlices of GPU drivers, of the newest generation of each pool.
class Devices {
 public:
  struct Place {
    std::string_view node;
    std::optional<std::string> gpu;  ///< none: unknown
  };

  explicit Devices(const kube::StoreSnapshot<ResourceSlice>& slices) {
    slices.for_each([&](kube::RowId, const ResourceSlice& slice) {
      std::int64_t& newest = newest_.try_emplace({slice.driver, slice.pool}, slice.generation).first->second;
      newest = std::max(newest, slice.generation);
    });
  }

  template <typename Visit>
  void read(const kube::StoreSnapshot<ResourceSlice>& slices, Visit&& visit) {
    slices.for_each([&](kube::RowId, const ResourceSlice& slice) {
      if (!offers_gpus(slice.driver) || newest_.at({slice.driver, slice.pool}) != slice.generation) return;
      for (const Device& device : slice.devices) {
        const DeviceKey key{slice.driver, slice.pool, device.name};
        const Place& place = places_.insert_or_assign(key, Place{slice.node, gpu_of(device, key)}).first->second;
        visit(place, device);
      }
    });
  }

  const Place* find(const ResourceClaim::Grant& grant) const {
    const auto found = places_.find({grant.driver, grant.pool, grant.device});
    return found == places_.end() ? nullptr : &found->second;
  }

 private:
  std::map<PoolKey, std::int64_t> newest_;
  std::map<DeviceKey, Place> places_;
};

}  // namespace

/// Finds the GPUs that claims hold, by node.
class GpuHolders::Claims {
 public:
  Claims(GpuHolders& out, const ClusterView& view) : out_(out), view_(view), devices_(view.resource_slices) {
    view.nodes.for_each([&](kube::RowId, const kube::Node& node) { nodes_.insert(node.meta.name); });
    devices_.read(view.resource_slices, [&](const Devices::Place& place, const Device& device) {
      if (place.node.empty() || !place.gpu) return;
      describe(place.node, *place.gpu);
      std::string& product = out_.node_gpus_[std::string(place.node)].product;
      if (product.empty()) product = label_of(device.product);
    });
    find_users();
    std::vector<const ResourceClaim*> claims;
    view.resource_claims.for_each([&](kube::RowId, const ResourceClaim& claim) { claims.push_back(&claim); });
    std::ranges::sort(claims, {},
                      [](const ResourceClaim* claim) { return std::tie(claim->meta.ns, claim->meta.name); });
    for (const ResourceClaim* claim : claims) read(*claim);
    number_devices();
  }

 private:
  struct Held {
    std::map<std::string, std::vector<std::string>> gpus;  ///< whole GPUs by node
    std::set<std::string> unknown;                         ///< nodes of devices whose GPU is unknown
  };

  /// Counts a GPU of a node, once.
  void describe(std::string_view node, const std::string& gpu) {
    if (known_.emplace(node, gpu).second) ++out_.node_gpus_[std::string(node)].gpus;
  }

  /// Finds the pods for which claims are reserved and that still exist.
  void find_users() {
    view_.resource_claims.for_each([&](kube::RowId, const ResourceClaim& claim) {
      out_.reserved_for_.insert(claim.reserved_for.begin(), claim.reserved_for.end());
    });
    if (out_.reserved_for_.empty()) return;
    view_.pods.for_each([&](kube::RowId, const kube::Pod& pod) {
      if (!pod.over() && out_.reserved_for_.contains(pod.meta.uid)) users_.insert(pod.meta.uid);
    });
  }

  std::string node_of(const ResourceClaim& claim, const ResourceClaim::Grant& grant, const Devices::Place* place) {
    if (place != nullptr && !place->node.empty()) return std::string(place->node);
    if (!claim.node.empty()) return claim.node;
    return nodes_.contains(grant.pool) ? grant.pool : std::string();
  }

  Held held_by(const ResourceClaim& claim) {
    Held held;
    for (const ResourceClaim::Grant& grant : claim.grants) {
      if (!offers_gpus(grant.driver)) continue;
      const Devices::Place* place = devices_.find(grant);
      const std::string node = node_of(claim, grant, place);
      if (node.empty()) continue;
      if (place == nullptr || !place->gpu) {
        held.unknown.insert(node);
        continue;
      }
      describe(node, *place->gpu);
      if (taken_.emplace(node, *place->gpu).second) held.gpus[node].push_back(*place->gpu);
    }
    return held;
  }

  void read(const ResourceClaim& claim) {
    const auto user = std::ranges::find_if(claim.reserved_for, [&](const auto& uid) { return users_.contains(uid); });
    const bool has_user = user != claim.reserved_for.end();
    const Held held = held_by(claim);
    for (const auto& [node, gpus] : held.gpus) {
      if (has_user) {
        for (const std::string& gpu : gpus) of_pods_[*user].emplace_back(node, gpu);
        // The GPUs of a claim for an extended resource are already counted as requests of its pod.
        if (!claim.is_for_extended_resource) out_.by_pod_[*user] += whole_gpus(std::ssize(gpus));
      } else if (!held.unknown.contains(node)) {
        out_.other_holders_.push_back({"ResourceClaim", &claim.meta, node, whole_gpus(std::ssize(gpus))});
      }
    }
    if (has_user && claim.is_for_extended_resource) return;
    for (const std::string& node : held.unknown) {
      out_.other_holders_.push_back({"ResourceClaim", &claim.meta, node, std::nullopt});
    }
  }

  /// Numbers the GPUs of each node in the order of their names, and records the numbers of the GPUs of each pod.
  void number_devices() {
    for (const auto& [uid, gpus] : of_pods_) {
      std::vector<std::uint16_t>& devices = out_.devices_[uid];
      for (const NodeGpu& gpu : gpus) {
        const auto first = known_.lower_bound({gpu.first, std::string()});
        devices.push_back(static_cast<std::uint16_t>(std::distance(first, known_.find(gpu))));
      }
      std::ranges::sort(devices);
    }
  }

  using NodeGpu = std::pair<std::string, std::string>;  // node, GPU

  GpuHolders& out_;
  const ClusterView& view_;
  Devices devices_;
  std::unordered_set<std::string_view> nodes_;
  std::unordered_set<std::string_view> users_;  // UIDs of existing pods with claims
  std::set<NodeGpu> known_, taken_;
  std::map<std::string, std::vector<NodeGpu>, std::less<>> of_pods_;  // GPUs of claims by pod UID
};

GpuHolders::GpuHolders(const ClusterView& view) : shared_(view.pods) {
  if (view.resource_slices.version + view.resource_claims.version > 0) Claims(*this, view);
  add_visible(view);
}

bool GpuHolders::holds_visible(const kube::Pod& pod) const {
  if (pod.spec.visible_gpus.empty() || !pod.bound() || pod.over() || pod_gpus(pod) > MilliGpu{}) return false;
  const kube::OwnerReference* owner = pod.meta.controller();
  return owner == nullptr || (owner->kind != "DaemonSet" && owner->kind != "Node");
}

/// Adds the pods that see GPUs of their node without a request or a claim, such as a launcher of sleeping engines. The
/// agents of a node, which DaemonSets run, only look at its GPUs.
void GpuHolders::add_visible(const ClusterView& view) {
  view.pods.for_each([&](kube::RowId, const kube::Pod& pod) {
    if (!holds_visible(pod)) return;
    const std::vector<std::string>& visible = pod.spec.visible_gpus;
    const bool sees_all = std::ranges::find(visible, "all") != visible.end();
    std::optional<MilliGpu> gpus;
    if (!sees_all) gpus = whole_gpus(std::ssize(visible));
    other_holders_.push_back({"Pod", &pod.meta, pod.spec.node, gpus});
  });
}

bool GpuHolders::depends_on(const kube::Pod& pod) const {
  return holds_visible(pod) || reserved_for_.contains(pod.meta.uid) || SharedGpus::depends_on(pod);
}

const GpuHolders::NodeGpus& GpuHolders::on_node(std::string_view node) const {
  static const NodeGpus kNone;
  const auto found = node_gpus_.find(node);
  return found == node_gpus_.end() ? kNone : found->second;
}

std::set<std::string, std::less<>> GpuHolders::used_nodes(const kube::StoreSnapshot<kube::Pod>& pods) const {
  std::set<std::string, std::less<>> used;
  pods.for_each([&](kube::RowId, const kube::Pod& pod) {
    if (pod.bound() && !pod.over() && pod_gpus(pod) > MilliGpu{}) used.insert(pod.spec.node);
  });
  for (const OtherHolder& other : other_holders_) used.insert(other.node);
  return used;
}

MilliGpu GpuHolders::pod_gpus(const kube::Pod& pod) const {
  const MilliGpu requested = shared_.pod_gpus(pod, gpus_of(pod.spec.requests));
  const auto claimed = by_pod_.find(pod.meta.uid);
  return claimed == by_pod_.end() ? requested : requested + claimed->second;
}

std::vector<std::uint16_t> GpuHolders::devices_of(const kube::Pod& pod) const {
  std::vector<std::uint16_t> shared = shared_.devices_of(pod);
  if (!shared.empty()) return shared;
  const auto claimed = devices_.find(pod.meta.uid);
  // On a node with divided GPUs, only the divided GPUs have numbers.
  if (claimed == devices_.end() || shared_.any_on(pod.spec.node)) return {};
  return pod_gpus(pod) == whole_gpus(std::ssize(claimed->second)) ? claimed->second : std::vector<std::uint16_t>();
}

}  // namespace capstan::op
