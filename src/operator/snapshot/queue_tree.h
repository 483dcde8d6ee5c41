#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/queue.h"
#include "operator/view/cluster_view.h"

namespace capstan::op {

/// The queues of a cluster. Capstan's and KAI's queues have separate trees. Parents precede their children. KAI's queue
/// "team" is the row "kai/team".
class QueueTree {
 public:
  enum class Kind : std::uint8_t { capstan, kai };

  explicit QueueTree(const ClusterView& view);

  /// Returns the queue that the labels of a pod or of a template name, or none. Capstan's label takes precedence over
  /// KAI's. A queue that does not exist gets a row that admits nothing. KAI's label counts only if the cluster has a
  /// Queue of KAI.
  model::QueueId of(const kube::StringMap& labels);
  /// Returns the queue of a pod, which may follow from its KAI PodGroup too.
  model::QueueId of(const kube::Pod& pod);
  /// Returns a queue that exists, or none.
  model::QueueId find(Kind kind, const std::string& name) const;

  const std::vector<model::Queue>& rows() const { return rows_; }

 private:
  using Key = std::pair<Kind, std::string>;
  struct Described {
    std::string parent;
    std::optional<MilliGpu> limit;
  };

  void describe(const ClusterView& view);
  void add_with_parents(const Key& key);
  model::QueueId named(Kind kind, const std::string& name);

  std::map<Key, Described> described_;
  std::map<std::string, std::string> by_group_;  ///< names of queues, by namespace and name of the KAI PodGroup
  std::map<Key, model::QueueId> ids_;
  std::vector<model::Queue> rows_;
  bool kai_ = false;  ///< the cluster has Queues of KAI
};

}  // namespace capstan::op
