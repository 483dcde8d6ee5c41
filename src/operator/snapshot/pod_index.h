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

/// Pods that have not ended, by namespace and by their labels: to find a workload's replicas costs what they are, not
/// what there is. Points into the snapshot that it was made of; lists are in its order.
class PodIndex {
 public:
  using List = std::vector<const kube::Pod*>;

  explicit PodIndex(const kube::StoreSnapshot<kube::Pod>& pods);

  /// All pods of the workload, and few others: those with the rarest label that it selects by.
  std::span<const kube::Pod* const> candidates(const kube::Workload& workload) const;
  const std::map<std::string, List, std::less<>>& by_namespace() const { return by_namespace_; }

 private:
  const List& with_label(std::string_view ns, std::string_view key, std::string_view value) const;

  std::map<std::string, List, std::less<>> by_namespace_;
  std::map<std::string, List, std::less<>> by_label_;
};

}  // namespace capstan::op
