#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/queue.h"
#include "operator/snapshot/class_ids.h"
#include "operator/view/cluster_view.h"

namespace capstan::op {

/// The queues of a cluster. Capstan's and KAI's queues have separate trees. KAI's queue "team" is the row "kai/team". A
/// queue keeps its id as long as each pass over the cluster finds it or an object that names it.
class QueueTree {
 public:
  enum class Kind : std::uint8_t { capstan, kai };

  /// @param ids  assigns an id to the name of each row
  QueueTree(const ClusterView& view, ClassIds& ids);

  /// Returns false if the first Queue of KAI has appeared or the last one is gone, so that labels mean other queues.
  bool can_follow(const ClusterView& view) const { return has_kai_queues_ == !view.kai_queues.rows.empty(); }
  /// Reads the objects that describe queues again.
  void follow(const ClusterView& view);

  /// Returns the queue that the labels of a pod or of a template name, or none, and counts one use of it. Capstan's
  /// label takes precedence over KAI's. A queue that does not exist has a row that admits nothing as long as it is
  /// used. KAI's label counts only if the cluster has a Queue of KAI.
  model::QueueId take(const kube::StringMap& labels);
  /// Returns the queue of a pod, which may follow from its KAI PodGroup too, and counts one use of it.
  model::QueueId take(const kube::Pod& pod);
  /// Ends one use of a queue. Does nothing for none.
  void release(model::QueueId id);
  /// Adds a KAI PodGroup. Its queue is the queue of its pods.
  void add_group(const kube::KaiPodGroup& group);
  void remove_group(const kube::KaiPodGroup& group) { by_group_.erase(group.meta.key()); }

  /// Returns the queues by id. A row without a name belongs to an id that no queue uses now.
  const std::vector<model::Queue>& rows();

 private:
  using Key = std::pair<Kind, std::string>;
  struct DescribedQueue {
    std::string parent;
    model::Queue row{};  ///< without its parent
  };

  struct NamedQueue {
    model::QueueId id;
    std::size_t uses = 0;  ///< number of objects that describe or name the queue
  };

  void describe(const ClusterView& view);
  void take_with_parents(const Key& key, std::set<Key>& taken);
  model::QueueId take(Key key);
  void release(const Key& key);

  ClassIds& all_ids_;
  std::map<Key, DescribedQueue> described_;
  std::map<std::string, std::string> by_group_;  ///< names of queues, by namespace and name of the KAI PodGroup
  std::map<Key, NamedQueue> named_;
  std::map<model::QueueId, Key> keys_;  ///< queues of `named_` by id
  std::vector<model::Queue> rows_;
  bool has_new_rows_ = true;     ///< `rows_` must be made again
  bool has_kai_queues_ = false;  ///< the cluster has Queues of KAI
};

}  // namespace capstan::op
