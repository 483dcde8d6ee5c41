#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/quantity.h"
#include "operator/snapshot/claimed_gpus.h"
#include "operator/snapshot/shared_gpus.h"
#include "operator/snapshot/view_changes.h"
#include "operator/view/cluster_view.h"

namespace capstan::op {

/// The GPUs that are held without a request for an extended resource: by ResourceClaims (dynamic resource allocation),
/// by pods among which KAI divides GPUs, and by pods that make GPUs visible to themselves.
///
/// If it is unknown which GPUs of a node an object holds, all GPUs of the node that no other object holds count as
/// held.
class GpuHolders {
 public:
  explicit GpuHolders(const ClusterView& view);

  using Changes = ClaimedGpus::Changes;
  /// Returns false if the changes concern pods that share GPUs, or if the first claim or slice has appeared. Then the
  /// holders must be found again from the whole view.
  bool can_follow(const ViewChanges& changes) const;
  /// Follows changes of slices, claims, nodes and pods.
  /// @param view  the cluster after the changes
  Changes follow(const ViewChanges& changes, const ClusterView& view);

  const ClaimedGpus::NodeGpus& on_node(std::string_view node) const { return claimed_.on_node(node); }

  /// Returns the GPUs that a pod requests, its shares of divided GPUs, and the GPUs that its claims hold. If several
  /// pods share a claim, the GPUs of the claim count for one of these pods.
  MilliGpu pod_gpus(const kube::Pod& pod) const;
  /// Returns the numbers of the GPUs that a pod holds on its node, ascending. Only GPUs of ResourceSlices and GPUs that
  /// KAI divides have numbers. Empty if the numbers are unknown, or if the pod holds unequal parts of the GPUs.
  std::vector<std::uint16_t> devices_of(const kube::Pod& pod) const;

  /// Returns the objects that hold GPUs of these nodes and are not among the pods that `pod_gpus` counts. The objects
  /// that hold a known number of GPUs come first. Within both parts, claims by namespace and name come before pods by
  /// row.
  std::vector<const OtherHolder*> others_on(const std::set<std::string>& nodes) const;
  bool any_other_on(std::string_view node) const;
  bool any_other() const { return !claimed_.nodes_with_others().empty() || !visible_.empty(); }
  std::set<std::string> nodes_with_others() const;

  /// Returns the names of the nodes on which an object holds GPUs, or may hold some.
  /// @param pods  the pods of the view from which the holders were found
  std::set<std::string, std::less<>> used_nodes(const kube::StoreSnapshot<kube::Pod>& pods) const;

 private:
  void set_visible(kube::RowId row, const kube::Pod* pod, Changes& changes);
  bool holds_visible(const kube::Pod& pod) const;

  bool has_claims_ = false;  ///< the cluster has, or had, slices or claims; without them, `claimed_` is empty
  SharedGpus shared_;
  ClaimedGpus claimed_;
  std::map<kube::RowId, OtherHolder> visible_;                            ///< pods that see GPUs of their node, by row
  std::map<std::string, std::set<kube::RowId>, std::less<>> visible_on_;  ///< rows of these pods by node
};

}  // namespace capstan::op
