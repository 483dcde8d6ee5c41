#include "operator/snapshot/queue_tree.h"

#include <algorithm>
#include <ranges>
#include <set>
#include <utility>

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
  for (const auto& [key, queue] : described_) add_with_parents(key);
  for (const auto& [key, queue] : described_) {
    if (!queue.parent.empty()) row_of(find(key.first, key.second)).parent = named(key.first, queue.parent);
  }
  break_cycles();
  has_unknown_queues_ = false;
  view.kai_groups.for_each([&](kube::RowId, const kube::KaiPodGroup& group) { add_group(group); });
}

void QueueTree::add_group(const kube::KaiPodGroup& group) {
  if (kai_ && !group.queue.empty()) by_group_[group.meta.key()] = group.queue;
}

void QueueTree::describe(const ClusterView& view) {
  view.queues.for_each([&](kube::RowId, const Queue& queue) {
    described_[{Kind::capstan, queue.meta.name}] = {
        .parent = queue.parent,
        .row = {.name = row_name(Kind::capstan, queue.meta.name), .gpus = {.limit = queue.limit}}};
  });
  view.kai_queues.for_each([&](kube::RowId, const kube::KaiQueue& queue) {
    kai_ = true;
    described_[{Kind::kai, queue.meta.name}] = {.parent = queue.parent, .row = row_of_kai(queue)};
  });
}

/// Adds the row of a queue after those of its ancestors, so that parents come first in the rows of a new cluster.
void QueueTree::add_with_parents(const Key& key) {
  std::vector<Key> chain;
  std::set<Key> passed;
  for (Key next = key; !next.second.empty() && !ids_.contains(next);) {
    const auto found = described_.find(next);
    if (found == described_.end() || !passed.insert(next).second) break;
    chain.push_back(next);
    next.second = found->second.parent;
  }
  for (const Key& ancestor : std::views::reverse(chain)) {
    model::Queue row = described_.at(ancestor).row;
    row_of(named(ancestor.first, ancestor.second)) = std::move(row);
  }
}

/// Removes a parent from each loop of parents, so that the queues form trees.
void QueueTree::break_cycles() {
  while (const std::optional<std::size_t> at = model::find_parent_cycle(rows_)) {
    rows_[*at].parent = {};
    rows_[*at].fault = model::QueueFault::parent_cycle;
  }
}

model::Queue& QueueTree::row_of(model::QueueId id) {
  const model::Queue free{.name = {}, .fault = model::QueueFault::not_found};
  if (id.value >= rows_.size()) rows_.resize(id.value + 1, free);
  return rows_[id.value];
}

model::QueueId QueueTree::find(Kind kind, const std::string& name) const {
  const auto found = ids_.find({kind, name});
  return found == ids_.end() ? model::QueueId{} : found->second;
}

/// Returns the queue with a name. If no object describes it, it gets a row that admits nothing.
model::QueueId QueueTree::named(Kind kind, const std::string& name) {
  const auto [at, inserted] = ids_.try_emplace(Key(kind, name));
  if (inserted) {
    const std::string row = row_name(kind, name);
    at->second = {all_ids_.take(row)};
    row_of(at->second) = {.name = row, .fault = model::QueueFault::not_found};
    has_unknown_queues_ = true;
  }
  return at->second;
}

model::QueueId QueueTree::queue_of(const kube::StringMap& labels) {
  const std::string* ours = labels.find(kQueueLabel);
  if (ours != nullptr && !ours->empty()) return named(Kind::capstan, *ours);
  const std::string* kai = kai_ ? labels.find(kKaiQueueLabel) : nullptr;
  return kai != nullptr && !kai->empty() ? named(Kind::kai, *kai) : model::QueueId{};
}

model::QueueId QueueTree::queue_of(const kube::Pod& pod) {
  if (const model::QueueId queue = queue_of(pod.meta.labels); queue.valid()) return queue;
  const std::string group = by_group_.empty() ? std::string() : kai_group_of(pod);
  const auto found = group.empty() ? by_group_.end() : by_group_.find(group);
  return found == by_group_.end() ? model::QueueId{} : named(Kind::kai, found->second);
}

}  // namespace capstan::op
