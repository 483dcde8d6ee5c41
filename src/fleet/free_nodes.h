#pragma once

#include <cstddef>
#include <map>
#include <set>

#include "fleet/free_gpus.h"
#include "model/ids.h"

namespace capstan::fleet {

/// A set of nodes, grouped by node class and by free GPUs. All nodes of a group take the same number of pods if only
/// GPUs limit it, so that places are counted without a visit to each node.
class FreeNodes {
 public:
  using ByFree = std::map<FreeGpus, std::set<model::NodeId>>;

  const std::map<model::NodeClassId, ByFree>& by_class() const { return by_class_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  void insert(model::NodeClassId node_class, const FreeGpus& free, model::NodeId node) {
    by_class_[node_class][free].insert(node);
    ++size_;
  }

  /// Erases a node that is in the set.
  void erase(model::NodeClassId node_class, const FreeGpus& free, model::NodeId node) {
    const auto groups = by_class_.find(node_class);
    const auto group = groups->second.find(free);
    group->second.erase(node);
    if (group->second.empty()) groups->second.erase(group);
    if (groups->second.empty()) by_class_.erase(groups);
    --size_;
  }

  friend bool operator==(const FreeNodes&, const FreeNodes&) = default;

 private:
  std::map<model::NodeClassId, ByFree> by_class_;
  std::size_t size_ = 0;
};

}  // namespace capstan::fleet
