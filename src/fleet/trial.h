#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "fleet/index.h"

namespace capstan::fleet {

/// Speculative changes to the free GPUs of an index. They are undone on destruction, or earlier by rollback(), so that
/// the index ends as it began. The cost depends on the number of changes; a copy would cost time for every node.
class Trial {
 public:
  explicit Trial(Rooms& rooms) : rooms_(rooms) {}
  ~Trial() { rollback(0); }
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;

  const Rooms& rooms() const { return rooms_; }
  /// Takes GPUs that are free on the node, and other resources. The node must exist.
  void take(NodeId node, MilliGpu gpus, const model::Resources& others);
  void erase(NodeId node);  ///< removes the node, which must exist

  using Mark = std::size_t;
  Mark mark() const { return before_.size(); }
  void rollback(Mark mark);  ///< restores the state at `mark`

 private:
  void note(NodeId node);

  Rooms& rooms_;
  std::vector<std::pair<NodeId, NodeRoom>> before_;  ///< replaced values, oldest first
};

}  // namespace capstan::fleet
