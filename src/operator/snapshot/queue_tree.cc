#include "operator/snapshot/queue_tree.h"

#include <algorithm>
#include <optional>
#include <ranges>
#include <utility>

#include "base/assert.h"
#include "model/queue_fault.h"
#include "operator/snapshot/waiting_gangs.h"

namespace capstan::op {
namespace {

// The largest values that a snapshot file may state.
constexpr std::int64_t kMaxShareMilli = 1'000'000'000'000'000;
constexpr std::int64_t kMaxWeightMilli = 1'000'000'000;
constexpr std::int64_t kMaxPriority = 1'000'000'000;

/// Returns the name of a queue's row, which is unique because names of objects contain no '/'.
std::string row_name(QueueTree::Kind kind, const std::string& name) {
  return kind == QueueTree::Kind::kai ? "kai/" + name : name;
}

/// Returns a share of a KAI Queue. As in KAI, an amount that is not stated is 0, so the queue admits nothing.
/// @param amount_of  converts an amount in 1/1000 of KAI's unit
template <typename Amount>
model::QueueShare<Amount> share_of(const kube::KaiQueue::Share& from, Amount (*amount_of)(std::int64_t)) {
  const auto bounded = [&](std::int64_t milli) {
    const bool is_unlimited = milli == kube::KaiQueue::kUnlimited;
    return amount_of(is_unlimited ? kMaxShareMilli : std::clamp<std::int64_t>(milli, 0, kMaxShareMilli));
  };
  model::QueueShare<Amount> share;
  if (from.limit_milli != kube::KaiQueue::kUnlimited) share.limit = bounded(from.limit_milli);
  share.quota = bounded(from.quota_milli);
  share.weight_milli = std::clamp<std::int64_t>(from.weight_milli, 0, kMaxWeightMilli);
  return share;
}

MilliGpu gpus_of_kai(std::int64_t milli) { return std::min(MilliGpu{milli}, whole_gpus(kMaxQueueLimit)); }
std::int64_t cpu_of_kai(std::int64_t milli) { return milli / 1'000; }
std::int64_t memory_of_kai(std::int64_t milli) { return milli / 1'000 * 1'000'000 / (1 << 20); }

model::Queue row_of_kai(const kube::KaiQueue& queue) {
  return {.name = row_name(QueueTree::Kind::kai, queue.meta.name),
          .gpus = share_of(queue.gpu, gpus_of_kai),
          .cpu_milli = share_of(queue.cpu, cpu_of_kai),
          .memory_mib = share_of(queue.memory, memory_of_kai),
          .priority = std::clamp(queue.priority, -kMaxPriority, kMaxPriority),
          .preempt_min_runtime = queue.preempt_min_runtime,
          .reclaim_min_runtime = queue.reclaim_min_runtime};
}

}  // namespace

QueueTree::QueueTree(const ClusterView& view, ClassIds& ids) : all_ids_(ids) {
  describe(view);
  view.kai_groups.for_each([&](kube::RowId, const kube::KaiPodGroup& group) { add_group(group); });
}

void QueueTree::follow(const ClusterView& view) {
  for (const auto& [key, queue] : std::exchange(described_, {})) {
    release(key);
    if (!queue.parent.empty()) release(Key(key.first, queue.parent));
  }
  describe(view);
}

void QueueTree::add_group(const kube::KaiPodGroup& group) {
  if (has_kai_queues_ && !group.queue.empty()) by_group_[group.meta.key()] = group.queue;
}

void QueueTree::describe(const ClusterView& view) {
  has_new_rows_ = true;
  view.queues.for_each([&](kube::RowId, const Queue& queue) {
    described_[{Kind::capstan, queue.meta.name}] = {
        .parent = queue.parent,
        .row = {.name = row_name(Kind::capstan, queue.meta.name), .gpus = {.limit = queue.limit}}};
  });
  view.kai_queues.for_each([&](kube::RowId, const kube::KaiQueue& queue) {
    has_kai_queues_ = true;
    described_[{Kind::kai, queue.meta.name}] = {.parent = queue.parent, .row = row_of_kai(queue)};
  });
  std::set<Key> taken;
  for (const auto& [key, queue] : described_) take_with_parents(key, taken);
  for (const auto& [key, queue] : described_) {
    if (!queue.parent.empty()) take(Key(key.first, queue.parent));
  }
}

/// Takes a queue after its ancestors, so that parents come first in the rows of a new cluster.
/// @param taken  queues that this function has taken before
void QueueTree::take_with_parents(const Key& key, std::set<Key>& taken) {
  std::vector<Key> chain;
  for (Key next = key; !next.second.empty();) {
    const auto found = described_.find(next);
    if (found == described_.end() || !taken.insert(next).second) break;
    chain.push_back(next);
    next.second = found->second.parent;
  }
  for (const Key& ancestor : std::views::reverse(chain)) take(ancestor);
}

/// Returns the queue with a name, and counts one use of it.
model::QueueId QueueTree::take(Key key) {
  const auto [at, is_new] = named_.try_emplace(std::move(key));
  if (is_new) {
    at->second.id = {all_ids_.acquire(row_name(at->first.first, at->first.second))};
    keys_.emplace(at->second.id, at->first);
    has_new_rows_ = true;
  }
  ++at->second.uses;
  return at->second.id;
}

void QueueTree::release(const Key& key) {
  const auto found = named_.find(key);
  CAPSTAN_ASSERT(found != named_.end());
  if (--found->second.uses > 0) return;
  all_ids_.release(found->second.id.value);
  keys_.erase(found->second.id);
  named_.erase(found);
  has_new_rows_ = true;
}

void QueueTree::release(model::QueueId id) {
  if (!id.valid()) return;
  const auto found = keys_.find(id);
  CAPSTAN_ASSERT(found != keys_.end());
  release(Key(found->second));
}

const std::vector<model::Queue>& QueueTree::rows() {
  if (!std::exchange(has_new_rows_, false)) return rows_;
  const model::Queue free{.name = {}, .fault = model::QueueFault::not_found};
  rows_.assign(keys_.empty() ? 0 : keys_.rbegin()->first.value + 1, free);
  for (const auto& [id, key] : keys_) {
    const auto described = described_.find(key);
    model::Queue& row = rows_[id.value];
    if (described == described_.end()) {
      row.name = row_name(key.first, key.second);
      continue;
    }
    row = described->second.row;
    const std::string& parent = described->second.parent;
    if (!parent.empty()) row.parent = named_.find(Key(key.first, parent))->second.id;
  }
  // Removes a parent from each loop of parents, so that the queues form trees.
  while (const std::optional<std::size_t> at = model::find_parent_cycle(rows_)) {
    rows_[*at].parent = {};
    rows_[*at].fault = model::QueueFault::parent_cycle;
  }
  return rows_;
}

model::QueueId QueueTree::take(const kube::StringMap& labels) {
  const std::string* ours = labels.find(kQueueLabel);
  if (ours != nullptr && !ours->empty()) return take(Key(Kind::capstan, *ours));
  const std::string* kai = has_kai_queues_ ? labels.find(kKaiQueueLabel) : nullptr;
  return kai != nullptr && !kai->empty() ? take(Key(Kind::kai, *kai)) : model::QueueId{};
}

model::QueueId QueueTree::take(const kube::Pod& pod) {
  if (const model::QueueId queue = take(pod.meta.labels); queue.valid()) return queue;
  const std::string group = by_group_.empty() ? std::string() : kai_group_of(pod);
  const auto found = group.empty() ? by_group_.end() : by_group_.find(group);
  return found == by_group_.end() ? model::QueueId{} : take(Key(Kind::kai, found->second));
}

}  // namespace capstan::op
