#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/queue.h"
#include "operator/view/cluster_view.h"

namespace capstan::op {

/// The queues of a cluster: ours and KAI's, each with a tree of its own. Parents stand before their children; KAI's
/// "team" is the row "kai/team".
class QueueTree {
 public:
  enum class Kind : std::uint8_t { ours, kai };

  explicit QueueTree(const ClusterView& view);

  /// The queue that these labels of a pod or of a template name, ours before KAI's; none where they name none. One that
  /// nobody described is a row from now on, closed. Where there is no Queue of KAI's at all, its label names none.
  model::QueueId of(const kube::StringMap& labels);
  /// The same of a pod, which KAI's PodGroup may put into a queue as well.
  model::QueueId of(const kube::Pod& pod);
  /// None where nobody described it.
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
  std::map<std::string, std::string> by_group_;  ///< queue, by namespace and name of KAI's PodGroup
  std::map<Key, model::QueueId> ids_;
  std::vector<model::Queue> rows_;
  bool kai_ = false;  ///< there are Queues of KAI's
};

}  // namespace capstan::op
