#include "fleet/trial.h"

namespace capstan::fleet {

void Trial::take(NodeId node, MilliGpu gpus, const model::Resources& others) {
  before_.emplace_back(node, *rooms_.find(node));
  rooms_.take(node, gpus, others);
}

void Trial::erase(NodeId node) {
  before_.emplace_back(node, *rooms_.find(node));
  rooms_.erase(node);
}

void Trial::rollback(Mark mark) {
  for (; before_.size() > mark; before_.pop_back()) rooms_.set(before_.back().first, before_.back().second);
}

}  // namespace capstan::fleet
