#pragma once

#include <optional>
#include <set>
#include <vector>

#include "operator/view/cluster_view.h"

namespace capstan::op {

/// A row of the pods that was set or erased. Points into the two views that were compared.
struct PodChange {
  kube::RowId row;
  const kube::Pod* before = nullptr;  ///< null: the row was empty
  const kube::Pod* after = nullptr;   ///< null: the row is empty
  bool status_alone = false;          ///< only the status has changed, but not the node or the end of the pod
};

/// A row of the nodes that was set or erased. Points into the two views that were compared.
struct NodeChange {
  kube::RowId row;
  const kube::Node* before = nullptr;  ///< null: the row was empty
  const kube::Node* after = nullptr;   ///< null: the row is empty
};

/// A workload of which the number of desired replicas, the template or only the status has changed.
struct WorkloadChange {
  const kube::Workload* before = nullptr;
  const kube::Workload* after = nullptr;
  bool status_alone = false;        ///< no row of a snapshot depends on the change
  bool has_other_template = false;  ///< its template, labels or annotations have changed
};

/// A row of the KAI PodGroups that was set or erased. Points into the two views that were compared.
struct GroupChange {
  const kube::KaiPodGroup* before = nullptr;  ///< null: the row was empty
  const kube::KaiPodGroup* after = nullptr;   ///< null: the row is empty
};

/// A row of the ResourceSlices that was set or erased. Points into the newer of the two views that were compared.
struct SliceChange {
  kube::RowId row;
  const kube::ResourceSlice* after = nullptr;  ///< null: the row is empty
};

/// A row of the ResourceClaims that was set or erased. Points into the newer of the two views that were compared.
struct ResourceClaimChange {
  kube::RowId row;
  const kube::ResourceClaim* after = nullptr;  ///< null: the row is empty
};

/// The changes between two views that a snapshot can follow row by row.
struct ViewChanges {
  std::vector<PodChange> pods;                       ///< changed pods by row, ascending
  std::vector<NodeChange> nodes;                     ///< changed nodes by row, ascending
  std::vector<GroupChange> groups;                   ///< changed PodGroups by row, ascending
  std::vector<SliceChange> slices;                   ///< changed ResourceSlices by row, ascending
  std::vector<ResourceClaimChange> resource_claims;  ///< changed ResourceClaims by row, ascending
  bool queues = false;                               ///< a Queue of Capstan or of KAI has changed
  bool claims = false;                               ///< a NodeClaim has changed
  bool pools = false;                                ///< a NodePool has changed
  std::vector<WorkloadChange> workloads;             ///< workloads with a new version of the same object
  std::set<kube::RowId> scalers;                     ///< changed scalers
  bool targets = false;  ///< the list of targets, their workloads or their other autoscalers may have changed
};

/// Compares two views of a cluster. It costs one comparison for every block of 64 objects, and one for each object of a
/// changed block. A status on which no row depends counts as unchanged.
/// @return none if the FleetPolicy has changed, so that all objects have to be read
std::optional<ViewChanges> changes_between(const ClusterView& before, const ClusterView& after);

}  // namespace capstan::op
