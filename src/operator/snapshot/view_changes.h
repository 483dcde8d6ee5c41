#pragma once

#include <optional>
#include <vector>

#include "operator/view/cluster_view.h"

namespace capstan::op {

/// A pod whose status has changed. Points into the two views that were compared.
struct PodChange {
  const kube::Pod* before = nullptr;
  const kube::Pod* after = nullptr;
};

/// Compares two views of a cluster. It costs one comparison for every 64 objects, and one for each changed object.
/// @return the pods whose status or deletion alone has changed; none if a snapshot may depend on another change
std::optional<std::vector<PodChange>> status_changes(const ClusterView& before, const ClusterView& after);

}  // namespace capstan::op
