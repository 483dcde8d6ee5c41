#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/queue.h"
#include "operator/cluster_view.h"

namespace capstan::op {

/// The queues of a cluster: KAI's where there are any, ours elsewhere. Parents stand before their children.
class QueueTree {
 public:
  explicit QueueTree(const ClusterView& view);

  /// The queue that these labels of a pod or of a template name; none where they name none. One that nobody described
  /// is a row from now on, closed.
  model::QueueId of(const kube::StringMap& labels);
  /// The same of a pod, which KAI's PodGroup may put into a queue as well.
  model::QueueId of(const kube::Pod& pod);

  const std::vector<model::Queue>& rows() const { return rows_; }

 private:
  struct Described {
    std::string parent;
    std::optional<MilliGpu> limit;
  };

  void describe(const ClusterView& view);
  void add_with_parents(const std::string& name);
  model::QueueId named(const std::string& name);

  std::map<std::string, Described> described_;
  std::map<std::string, std::string> by_group_;  ///< queue, by namespace and name of KAI's PodGroup
  std::map<std::string, model::QueueId> ids_;
  std::vector<model::Queue> rows_;
};

}  // namespace capstan::op
