#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/quantity.h"
#include "operator/snapshot/shared_gpus.h"
#include "operator/view/cluster_view.h"

namespace capstan::op {

/// The GPUs that are held without a request for an extended resource: by ResourceClaims (dynamic resource allocation),
/// by pods among which KAI divides GPUs, and by pods that make GPUs visible to themselves.
///
/// A GPU of a claim counts once and as a whole, however many claims share it or hold a MIG device of it. Drivers whose
/// names begin with "gpu." offer GPUs, such as gpu.nvidia.com. If it is unknown which GPUs of a node an object holds,
/// all GPUs of the node that no other object holds count as held.
class GpuHolders {
 public:
  explicit GpuHolders(const ClusterView& view);

  /// The GPUs that ResourceSlices describe on a node, or that claims hold there although no slice describes them.
  struct NodeGpus {
    GpuCount gpus = 0;
    std::string product;  ///< product of its GPUs, as a node label states it: "NVIDIA-H100-80GB-HBM3"
  };
  const NodeGpus& on_node(std::string_view node) const;

  /// Returns the GPUs that a pod requests, its shares of divided GPUs, and the GPUs that its claims hold. If several
  /// pods share a claim, the GPUs of the claim count for one of these pods.
  MilliGpu pod_gpus(const kube::Pod& pod) const;
  /// Returns the numbers of the GPUs that a pod holds on its node with equal shares, ascending; empty: not known. The
  /// GPUs that slices describe and the GPUs that KAI divides have numbers.
  std::vector<std::uint16_t> devices_of(const kube::Pod& pod) const;

  /// An object that holds GPUs and is not one of the pods that `pod_gpus` counts.
  struct OtherHolder {
    std::string kind;  ///< ResourceClaim or Pod
    const kube::Meta* meta = nullptr;
    std::string node;
    std::optional<MilliGpu> gpus;  ///< none: it may hold any GPU of the node that no other object holds
  };
  const std::vector<OtherHolder>& other_holders() const { return other_holders_; }

  /// Returns true if a change or the deletion of this pod could change what claims or other objects hold.
  bool depends_on(const kube::Pod& pod) const;
  /// Returns the names of the nodes on which an object holds GPUs, or may hold some.
  /// @param pods  the pods of the view from which the holders were found
  std::set<std::string, std::less<>> used_nodes(const kube::StoreSnapshot<kube::Pod>& pods) const;

 private:
  class Claims;
  void add_visible(const ClusterView& view);
  bool holds_visible(const kube::Pod& pod) const;

  SharedGpus shared_;
  std::map<std::string, NodeGpus, std::less<>> node_gpus_;
  std::set<std::string, std::less<>> reserved_for_;      ///< UIDs of pods that may use the devices of claims
  std::map<std::string, MilliGpu, std::less<>> by_pod_;  ///< GPUs of claims, by UID of the pod
  std::map<std::string, std::vector<std::uint16_t>, std::less<>> devices_;  ///< their numbers, ascending
  std::vector<OtherHolder> other_holders_;
};

}  // namespace capstan::op
