#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kube/pod_view.h"
#include "kube/store.h"
#include "kube/workload_views.h"

namespace capstan::op {

/// The pods that have not ended, by namespace and by label. The cost of finding a workload's replicas grows with their
/// number, not with the number of all pods. The index points into its snapshot, and its lists have the order of the
/// snapshot.
class PodIndex {
 public:
  using List = std::vector<const kube::Pod*>;

  explicit PodIndex(const kube::StoreSnapshot<kube::Pod>& pods);

  /// Returns the pods with the rarest label of the workload's selector: all pods of the workload and few others.
  std::span<const kube::Pod* const> candidates(const kube::Workload& workload) const;
  const std::map<std::string, List, std::less<>>& by_namespace() const { return by_namespace_; }

 private:
  const List& with_label(std::string_view ns, std::string_view key, std::string_view value) const;

  std::map<std::string, List, std::less<>> by_namespace_;
  std::map<std::string, List, std::less<>> by_label_;
};

}  // namespace capstan::op
