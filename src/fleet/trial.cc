#include "fleet/trial.h"

#include "base/assert.h"

namespace capstan::fleet {

/// Stores the room of a node before a change.
void Trial::note(NodeId node) {
  const NodeRoom* room = rooms_.find(node);
  CAPSTAN_ASSERT(room != nullptr);
  before_.emplace_back(node, *room);
}

void Trial::take(NodeId node, MilliGpu gpus, const model::Resources& others) {
  note(node);
  rooms_.take(node, gpus, others);
}

void Trial::erase(NodeId node) {
  note(node);
  rooms_.erase(node);
}

void Trial::rollback(Mark mark) {
  for (; before_.size() > mark; before_.pop_back()) rooms_.set(before_.back().first, before_.back().second);
}

}  // namespace capstan::fleet
