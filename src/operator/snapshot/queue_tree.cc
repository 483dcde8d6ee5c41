#include "operator/snapshot/queue_tree.h"

#include <algorithm>
#include <ranges>
#include <set>

#include "operator/snapshot/waiting_gangs.h"

namespace capstan::op {
namespace {

/// Returns the name of a queue's row, which is unique because names of objects contain no '/'.
std::string row_name(QueueTree::Kind kind, const std::string& name) {
  return kind == QueueTree::Kind::kai ? "kai/" + name : name;
}

}  // namespace

QueueTree::QueueTree(const ClusterView& view) {
  describe(view);
  for (const auto& [key, queue] : described_) add_with_parents(key);
  if (!kai_) return;
  view.kai_groups.for_each([&](kube::RowId, const kube::KaiPodGroup& group) {
    if (!group.queue.empty()) by_group_[group.meta.key()] = group.queue;
  });
}

void QueueTree::describe(const ClusterView& view) {
  view.queues.for_each([&](kube::RowId, const Queue& queue) {
    described_[{Kind::capstan, queue.meta.name}] = {.parent = queue.parent, .limit = queue.limit};
  });
  view.kai_queues.for_each([&](kube::RowId, const kube::KaiQueue& queue) {
    kai_ = true;
    Described& row = described_[{Kind::kai, queue.meta.name}];
    row.parent = queue.parent;
    // As in KAI, a limit that is not stated is 0, so the queue admits nothing.
    const std::int64_t most = whole_gpus(kMostHeld).count;
    if (queue.gpu_limit_milli != kube::KaiQueue::kUnlimited) {
      row.limit = MilliGpu{std::clamp<std::int64_t>(queue.gpu_limit_milli, 0, most)};
    }
  });
}

/// Adds the row of a queue after those of its ancestors. A queue in a cycle or without an existing parent admits
/// nothing.
void QueueTree::add_with_parents(const Key& key) {
  std::vector<Key> chain;
  std::set<Key> passed;
  Key next = key;
  bool closed = false;
  while (!next.second.empty() && !ids_.contains(next)) {
    const auto found = described_.find(next);
    closed = found == described_.end() || !passed.insert(next).second;
    if (closed) break;
    chain.push_back(next);
    next.second = found->second.parent;
  }
  for (const Key& each : std::views::reverse(chain)) {
    const Described& queue = described_.at(each);
    const model::QueueId parent = find(each.first, queue.parent);
    ids_[each] = {static_cast<std::uint32_t>(rows_.size())};
    rows_.push_back(
        {.name = row_name(each.first, each.second), .parent = parent, .limit = queue.limit, .closed = closed});
    closed = false;
  }
}

model::QueueId QueueTree::find(Kind kind, const std::string& name) const {
  const auto found = ids_.find({kind, name});
  return found == ids_.end() ? model::QueueId{} : found->second;
}

model::QueueId QueueTree::named(Kind kind, const std::string& name) {
  const auto [at, inserted] =
      ids_.try_emplace(Key(kind, name), model::QueueId{static_cast<std::uint32_t>(rows_.size())});
  if (inserted) rows_.push_back({.name = row_name(kind, name), .parent = {}, .limit = {}, .closed = true});
  return at->second;
}

model::QueueId QueueTree::of(const kube::StringMap& labels) {
  const std::string* ours = labels.find(kQueueLabel);
  if (ours != nullptr && !ours->empty()) return named(Kind::capstan, *ours);
  const std::string* kai = kai_ ? labels.find(kKaiQueueLabel) : nullptr;
  return kai != nullptr && !kai->empty() ? named(Kind::kai, *kai) : model::QueueId{};
}

model::QueueId QueueTree::of(const kube::Pod& pod) {
  if (const model::QueueId queue = of(pod.meta.labels); queue.valid()) return queue;
  const std::string* group = by_group_.empty() ? nullptr : pod.meta.annotations.find(kKaiGroupAnnotation);
  const auto found = group == nullptr ? by_group_.end() : by_group_.find(kube::key_of(pod.meta.ns, *group));
  return found == by_group_.end() ? model::QueueId{} : named(Kind::kai, found->second);
}

}  // namespace capstan::op
