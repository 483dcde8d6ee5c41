#include "operator/queue_tree.h"

#include <algorithm>
#include <ranges>
#include <utility>

#include "operator/waiting_gangs.h"

namespace capstan::op {

QueueTree::QueueTree(const ClusterView& view) {
  describe(view);
  for (const auto& [name, queue] : described_) add_with_parents(name);
  view.kai_groups.for_each([&](kube::RowId, const kube::KaiPodGroup& group) {
    if (!group.queue.empty()) by_group_[group.meta.key()] = group.queue;
  });
}

void QueueTree::describe(const ClusterView& view) {
  view.kai_queues.for_each([&](kube::RowId, const kube::KaiQueue& queue) {
    Described& row = described_[queue.meta.name];
    row.parent = queue.parent;
    // What is not stated is 0, and lets nothing in: so KAI reads it.
    if (queue.gpu_limit_milli != kube::KaiQueue::kUnlimited) {
      row.limit = MilliGpu{std::max<std::int64_t>(queue.gpu_limit_milli, 0)};
    }
  });
  if (!described_.empty()) return;
  view.queues.for_each([&](kube::RowId, const Queue& queue) {
    described_[queue.meta.name] = {.parent = queue.parent, .limit = queue.limit};
  });
}

/// The queues above it first. One that is above itself, or whose parent nobody described, is closed.
void QueueTree::add_with_parents(const std::string& name) {
  std::vector<std::string> chain;
  std::string next = name;
  bool closed = false;
  while (!next.empty() && !ids_.contains(next)) {
    const auto found = described_.find(next);
    closed = found == described_.end() || std::ranges::find(chain, next) != chain.end();
    if (closed) break;
    chain.push_back(next);
    next = found->second.parent;
  }
  for (const std::string& each : std::views::reverse(chain)) {
    const Described& queue = described_.at(each);
    const auto parent = ids_.find(queue.parent);
    ids_[each] = {static_cast<std::uint32_t>(rows_.size())};
    rows_.push_back({.name = each,
                     .parent = parent == ids_.end() ? model::QueueId{} : parent->second,
                     .limit = queue.limit,
                     .closed = std::exchange(closed, false)});
  }
}

model::QueueId QueueTree::named(const std::string& name) {
  const auto [at, inserted] = ids_.try_emplace(name, model::QueueId{static_cast<std::uint32_t>(rows_.size())});
  if (inserted) rows_.push_back({.name = name, .parent = {}, .limit = {}, .closed = true});
  return at->second;
}

model::QueueId QueueTree::of(const kube::StringMap& labels) {
  for (const std::string_view label : {kQueueLabel, kKaiQueueLabel}) {
    if (const std::string* name = labels.find(label); name != nullptr && !name->empty()) return named(*name);
  }
  return {};
}

model::QueueId QueueTree::of(const kube::Pod& pod) {
  if (const model::QueueId queue = of(pod.meta.labels); queue.valid()) return queue;
  const std::string* group = by_group_.empty() ? nullptr : pod.meta.annotations.find(kKaiGroupAnnotation);
  const auto found = group == nullptr ? by_group_.end() : by_group_.find(kube::key_of(pod.meta.ns, *group));
  return found == by_group_.end() ? model::QueueId{} : named(found->second);
}

}  // namespace capstan::op
