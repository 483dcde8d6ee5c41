#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/queue.h"
#include "operator/snapshot/class_ids.h"
#include "operator/view/cluster_view.h"

namespace capstan::op {

/// The queues of a cluster. Capstan's and KAI's queues have separate trees. KAI's queue "team" is the row "kai/team". A
/// queue keeps its id as long as each pass over the cluster finds it or a pod that names it.
class QueueTree {
 public:
  enum class Kind : std::uint8_t { capstan, kai };

  /// @param ids  assigns an id to the name of each row
  QueueTree(const ClusterView& view, ClassIds& ids);

  /// Returns the queue that the labels of a pod or of a template name, or none. Capstan's label takes precedence over
  /// KAI's. A queue that does not exist gets a row that admits nothing. KAI's label counts only if the cluster has a
  /// Queue of KAI.
  model::QueueId queue_of(const kube::StringMap& labels);
  /// Returns the queue of a pod, which may follow from its KAI PodGroup too.
  model::QueueId queue_of(const kube::Pod& pod);
  /// Adds a KAI PodGroup. Its queue is the queue of its pods.
  void add_group(const kube::KaiPodGroup& group);
  void remove_group(const kube::KaiPodGroup& group) { by_group_.erase(group.meta.key()); }
  /// Returns a queue that exists, or none.
  model::QueueId find(Kind kind, const std::string& name) const;

  /// Returns true if a queue got its row only because a pod or a template names it. Then the rows depend on all pods.
  bool has_unknown_queues() const { return has_unknown_queues_; }
  /// Returns the queues by id. A row without a name belongs to an id that no queue uses now.
  const std::vector<model::Queue>& rows() const { return rows_; }

 private:
  using Key = std::pair<Kind, std::string>;
  struct DescribedQueue {
    std::string parent;
    model::Queue row{};  ///< without its parent
  };

  void describe(const ClusterView& view);
  void add_with_parents(const Key& key);
  void break_cycles();
  model::QueueId named(Kind kind, const std::string& name);
  model::Queue& row_of(model::QueueId id);

  ClassIds& all_ids_;
  std::map<Key, DescribedQueue> described_;
  std::map<std::string, std::string> by_group_;  ///< names of queues, by namespace and name of the KAI PodGroup
  std::map<Key, model::QueueId> ids_;
  std::vector<model::Queue> rows_;
  bool has_unknown_queues_ = false;
  bool kai_ = false;  ///< the cluster has Queues of KAI
};

}  // namespace capstan::op
