#include "operator/snapshot/claimed_gpus.h"

#include <algorithm>
#include <tuple>

#include "base/erase_from.h"

namespace capstan::op {
namespace {

using kube::Device;
using kube::ResourceClaim;
using kube::ResourceSlice;

bool offers_gpus(std::string_view driver) { return driver.starts_with("gpu."); }

/// Returns the identity of a device's GPU, the same for all MIG devices of one GPU; none if the GPU is unknown.
std::optional<std::string> gpu_of(const ResourceSlice& slice, const Device& device) {
  if (!device.parent_uuid.empty()) return device.parent_uuid;
  const bool is_whole = device.type.empty() || device.type == "gpu" || device.type == "amdgpu";
  if (!is_whole) return std::nullopt;
  if (!device.uuid.empty()) return device.uuid;
  return slice.driver + "/" + slice.pool + "/" + device.name;
}

/// Returns the text of a node label for a product, as NVIDIA's GPU feature discovery writes it.
std::string label_of(std::string product) {
  std::ranges::replace(product, ' ', '-');
  return product;
}

}  // namespace

/// Computes the GPUs of one node.
class ClaimedGpus::NodePass {
 public:
  NodePass(const ClaimedGpus& all, const std::string& name, const Node& node) : all_(all), name_(name) {
    for (const Row row : node.slices) read(*all.slices_.find(row)->second);
    std::vector<const ResourceClaim*> claims;
    for (const Row row : node.claims) claims.push_back(all.claims_.find(row)->second.object);
    std::ranges::sort(claims, {},
                      [](const ResourceClaim* claim) { return std::tie(claim->meta.ns, claim->meta.name); });
    for (const ResourceClaim* claim : claims) read(*claim);
    number_devices();
  }

  NodeGpus described() const { return {std::ssize(known_), product_}; }
  std::map<std::string, PodPart> parts{};
  std::vector<OtherHolder> others{};

 private:
  void read(const ResourceSlice& slice) {
    if (all_.pools_.find({slice.driver, slice.pool})->second.newest != slice.generation) return;
    for (const Device& device : slice.devices) {
      std::optional<std::string> gpu = gpu_of(slice, device);
      if (!gpu) continue;
      known_.insert(*std::move(gpu));
      if (product_.empty()) product_ = label_of(device.product);
    }
  }

  void read(const ResourceClaim& claim) {
    std::vector<std::string> gpus;
    bool holds_unknown = false;
    for (const ResourceClaim::Grant& grant : claim.grants) {
      if (!offers_gpus(grant.driver) || all_.node_of(claim, grant) != name_) continue;
      const Place* place = all_.find(grant);
      if (place == nullptr || !place->gpu) {
        holds_unknown = true;
        continue;
      }
      known_.insert(*place->gpu);
      if (taken_.insert(*place->gpu).second) gpus.push_back(*place->gpu);
    }
    const std::string* user = all_.user_of(claim);
    if (!gpus.empty() && user != nullptr) {
      std::vector<std::string>& of_user = gpus_of_[*user];
      of_user.insert(of_user.end(), gpus.begin(), gpus.end());
      // The GPUs of a claim for an extended resource are already counted as requests of its pod.
      MilliGpu& sum = parts[*user].gpus;
      if (!claim.is_for_extended_resource) sum += whole_gpus(std::ssize(gpus));
    } else if (!gpus.empty() && !holds_unknown) {
      others.push_back({"ResourceClaim", &claim.meta, name_, whole_gpus(std::ssize(gpus))});
    }
    if (user != nullptr && claim.is_for_extended_resource) return;
    if (holds_unknown) others.push_back({"ResourceClaim", &claim.meta, name_, std::nullopt});
  }

  /// Numbers the GPUs in the order of their names, and records the numbers of the GPUs of each pod.
  void number_devices() {
    const std::vector<std::string> names(known_.begin(), known_.end());
    for (const auto& [uid, gpus] : gpus_of_) {
      std::vector<std::uint16_t>& devices = parts[uid].devices;
      for (const std::string& gpu : gpus) {
        devices.push_back(static_cast<std::uint16_t>(std::ranges::lower_bound(names, gpu) - names.begin()));
      }
      std::ranges::sort(devices);
    }
  }

  const ClaimedGpus& all_;
  const std::string& name_;
  std::set<std::string> known_, taken_;
  std::string product_;
  std::map<std::string, std::vector<std::string>> gpus_of_;  // GPUs of claims by pod UID
};

void ClaimedGpus::set_slice(Row row, const ResourceSlice* slice) {
  if (const auto old = slices_.find(row); old != slices_.end()) {
    const ResourceSlice& before = *old->second;
    pools_[{before.driver, before.pool}].slices.erase(row);
    touched_pools_.emplace(before.driver, before.pool);
    if (!before.node.empty()) {
      nodes_[before.node].slices.erase(row);
      touched_nodes_.insert(before.node);
    }
    slices_.erase(old);
  }
  if (slice == nullptr || !offers_gpus(slice->driver)) return;
  slices_[row] = slice;
  pools_[{slice->driver, slice->pool}].slices[row] = slice;
  touched_pools_.emplace(slice->driver, slice->pool);
  if (!slice->node.empty()) nodes_[slice->node].slices.insert(row);
}

void ClaimedGpus::set_claim(Row row, const ResourceClaim* claim) {
  if (const auto old = claims_.find(row); old != claims_.end()) {
    const ResourceClaim& before = *old->second.object;
    for (const ResourceClaim::Grant& grant : before.grants) erase_from(claims_by_pool_, grant.pool, row);
    for (const std::string& uid : before.reserved_for) erase_from(claims_by_user_, uid, row);
    for (const std::string& node : old->second.nodes) {
      nodes_[node].claims.erase(row);
      touched_nodes_.insert(node);
    }
    claims_.erase(old);
  }
  touched_claims_.erase(row);
  if (claim == nullptr) return;
  claims_[row] = {claim, {}};
  for (const ResourceClaim::Grant& grant : claim->grants) claims_by_pool_[grant.pool].insert(row);
  for (const std::string& uid : claim->reserved_for) claims_by_user_[uid].insert(row);
  touched_claims_.insert(row);
}

void ClaimedGpus::set_pod(Row row, const kube::Pod* before, const kube::Pod* after) {
  const bool existed = before != nullptr && !before->over();
  const bool exists = after != nullptr && !after->over();
  if (existed && exists && before->meta.uid == after->meta.uid) return;
  if (existed) {
    const auto [first, last] = pods_.equal_range(before->meta.uid);
    const auto found = std::find_if(first, last, [&](const auto& entry) { return entry.second == row; });
    if (found != last) pods_.erase(found);
    touched_users_.insert(before->meta.uid);
  }
  if (exists) {
    pods_.emplace(after->meta.uid, row);
    touched_users_.insert(after->meta.uid);
  }
}

void ClaimedGpus::set_node(const std::string& name, bool exists) {
  const bool changed = exists ? node_names_.insert(name).second : node_names_.erase(name) > 0;
  // A device that no slice describes can be on this node, because the name of its pool can be the name of the node.
  const auto found = changed ? claims_by_pool_.find(name) : claims_by_pool_.end();
  if (found != claims_by_pool_.end()) touched_claims_.insert(found->second.begin(), found->second.end());
}

/// Reads the places of a pool's devices, from the slices of its newest generation.
void ClaimedGpus::read_pool(Pool& pool) {
  pool.places.clear();
  pool.newest = pool.slices.begin()->second->generation;
  for (const auto& [row, slice] : pool.slices) pool.newest = std::max(pool.newest, slice->generation);
  for (const auto& [row, slice] : pool.slices) {
    if (!slice->node.empty()) touched_nodes_.insert(slice->node);
    if (slice->generation != pool.newest) continue;
    for (const Device& device : slice->devices) {
      pool.places.insert_or_assign(device.name, Place{slice->node, gpu_of(*slice, device)});
    }
  }
}

const ClaimedGpus::Place* ClaimedGpus::find(const ResourceClaim::Grant& grant) const {
  const auto pool = pools_.find({grant.driver, grant.pool});
  if (pool == pools_.end()) return nullptr;
  const auto found = pool->second.places.find(grant.device);
  return found == pool->second.places.end() ? nullptr : &found->second;
}

std::string ClaimedGpus::node_of(const ResourceClaim& claim, const ResourceClaim::Grant& grant) const {
  const Place* place = find(grant);
  if (place != nullptr && !place->node.empty()) return place->node;
  if (!claim.node.empty()) return claim.node;
  return node_names_.contains(grant.pool) ? grant.pool : std::string();
}

/// Returns the UID of the pod for which a claim counts: the first one that exists. Null if there is none.
const std::string* ClaimedGpus::user_of(const ResourceClaim& claim) const {
  const auto user = std::ranges::find_if(claim.reserved_for, [&](const auto& uid) { return pods_.contains(uid); });
  return user == claim.reserved_for.end() ? nullptr : &*user;
}

/// Finds the nodes of a claim's devices.
void ClaimedGpus::locate(Row row) {
  Claim& claim = claims_.find(row)->second;
  for (const std::string& node : claim.nodes) {
    nodes_[node].claims.erase(row);
    touched_nodes_.insert(node);
  }
  claim.nodes.clear();
  for (const ResourceClaim::Grant& grant : claim.object->grants) {
    if (!offers_gpus(grant.driver)) continue;
    const std::string node = node_of(*claim.object, grant);
    if (node.empty()) continue;
    claim.nodes.insert(node);
    nodes_[node].claims.insert(row);
    touched_nodes_.insert(node);
  }
}

ClaimedGpus::Changes ClaimedGpus::settle() {
  for (const PoolKey& key : std::exchange(touched_pools_, {})) {
    const auto pool = pools_.find(key);
    if (pool->second.slices.empty()) {
      pools_.erase(pool);
    } else {
      read_pool(pool->second);
    }
    const auto claims = claims_by_pool_.find(key.second);
    if (claims != claims_by_pool_.end()) touched_claims_.insert(claims->second.begin(), claims->second.end());
  }
  for (const Row row : std::exchange(touched_claims_, {})) locate(row);
  for (const std::string& uid : std::exchange(touched_users_, {})) {
    const auto claims = claims_by_user_.find(uid);
    if (claims == claims_by_user_.end()) continue;
    for (const Row row : claims->second) {
      const std::set<std::string>& nodes = claims_.find(row)->second.nodes;
      touched_nodes_.insert(nodes.begin(), nodes.end());
    }
  }
  Changes changes;
  for (const std::string& name : std::exchange(touched_nodes_, {})) read_node(name, changes);
  return changes;
}

void ClaimedGpus::read_node(const std::string& name, Changes& changes) {
  Node& node = nodes_[name];
  const NodePass pass(*this, name, node);
  if (node.described != pass.described()) changes.described.insert(name);
  node.described = pass.described();
  std::set<std::string> users = std::exchange(node.users, {});
  for (const auto& [uid, part] : pass.parts) node.users.insert(uid);
  users.insert(node.users.begin(), node.users.end());
  for (const std::string& uid : users) {
    const auto part = pass.parts.find(uid);
    const bool holds = part != pass.parts.end();
    std::map<std::string, PodPart>& parts = parts_[uid];
    const auto old = parts.find(name);
    const bool same = holds ? old != parts.end() && old->second == part->second : old == parts.end();
    if (holds) {
      parts[name] = part->second;
    } else if (old != parts.end()) {
      parts.erase(old);
    }
    if (parts.empty()) parts_.erase(uid);
    if (same) continue;
    const auto [first, last] = pods_.equal_range(uid);
    std::for_each(first, last, [&](const auto& entry) { changes.pods.insert(entry.second); });
  }
  if (!node.others.empty() || !pass.others.empty()) changes.holders.insert(name);
  node.others = pass.others;
  if (node.others.empty()) {
    nodes_with_others_.erase(name);
  } else {
    nodes_with_others_.insert(name);
  }
  if (node.slices.empty() && node.claims.empty()) nodes_.erase(name);
}

const ClaimedGpus::NodeGpus& ClaimedGpus::on_node(std::string_view node) const {
  static const NodeGpus kNone;
  const auto found = nodes_.find(node);
  return found == nodes_.end() ? kNone : found->second.described;
}

MilliGpu ClaimedGpus::held_by(std::string_view pod_uid) const {
  MilliGpu sum;
  const auto found = parts_.find(pod_uid);
  if (found == parts_.end()) return sum;
  for (const auto& [node, part] : found->second) sum += part.gpus;
  return sum;
}

std::vector<std::uint16_t> ClaimedGpus::devices_of(std::string_view pod_uid) const {
  std::vector<std::uint16_t> devices;
  const auto found = parts_.find(pod_uid);
  if (found == parts_.end()) return devices;
  for (const auto& [node, part] : found->second)
    devices.insert(devices.end(), part.devices.begin(), part.devices.end());
  std::ranges::sort(devices);
  return devices;
}

const std::vector<OtherHolder>& ClaimedGpus::others_on(std::string_view node) const {
  static const std::vector<OtherHolder> kNone;
  const auto found = nodes_.find(node);
  return found == nodes_.end() ? kNone : found->second.others;
}

}  // namespace capstan::op
