#include "fleet/assumed_rooms.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/assert.h"

namespace capstan::fleet {
namespace {

constexpr std::size_t kMaxChanges = 4'096;

/// Returns true if two rooms are equal apart from their free GPUs and resources.
bool has_same_layout(const NodeRoom& a, const NodeRoom& b) {
  return a.gpu == b.gpu && a.gpus == b.gpus && a.open == b.open && a.node_class == b.node_class &&
         a.domains == b.domains;
}

}  // namespace

void AssumedRooms::mark_changed(NodeId id) {
  if (is_built_) stale_.insert(id);
}

void AssumedRooms::mark_eligibility_changed() {
  for (const auto& [node, pods] : by_node_) mark_changed(node);
  refusals.rows.clear();
}

void AssumedRooms::update(const Rooms& base, const model::Eligibility& eligibility, std::vector<AssumedPod> pods,
                          std::span<const NodeId> leaving) {
  if (!is_built_) rooms_ = base;
  is_built_ = true;
  follow_leaving(leaving);
  follow_pods(std::move(pods));
  for (const NodeId id : stale_) {
    refresh(id, std::ranges::binary_search(leaving_, id) ? nullptr : base.find(id), eligibility);
  }
  stale_.clear();
}

void AssumedRooms::take(NodeId node, MilliGpu gpus, const model::Resources& others) {
  const NodeRoom* before = rooms_.find(node);
  CAPSTAN_ASSERT(before != nullptr && before->free.sum >= gpus);
  add_change(node, before->domains);
  rooms_.take(node, gpus, others);
  mark_changed(node);
}

bool AssumedRooms::has(PodId pod) const { return std::ranges::binary_search(pods_, pod, {}, &AssumedPod::pod); }

std::optional<std::span<const AssumedRooms::Change>> AssumedRooms::changes_since(std::uint64_t version) const {
  if (version < first_change_) return std::nullopt;
  return std::span(changes_).subspan(version - first_change_);
}

void AssumedRooms::follow_leaving(std::span<const NodeId> leaving) {
  std::vector<NodeId> next(leaving.begin(), leaving.end());
  std::ranges::sort(next);
  std::vector<NodeId> changed;
  std::ranges::set_symmetric_difference(leaving_, next, std::back_inserter(changed));
  for (const NodeId id : changed) mark_changed(id);
  leaving_ = std::move(next);
}

void AssumedRooms::follow_pods(std::vector<AssumedPod> pods) {
  auto old = pods_.cbegin();
  auto next = pods.cbegin();
  while (old != pods_.cend() || next != pods.cend()) {
    if (old != pods_.cend() && next != pods.cend() && *old == *next) {
      ++old, ++next;
    } else if (next == pods.cend() || (old != pods_.cend() && old->pod <= next->pod)) {
      remove(*old++);
    } else {
      add(*next++);
    }
  }
  pods_ = std::move(pods);
}

void AssumedRooms::add(const AssumedPod& pod) {
  std::vector<AssumedPod>& here = by_node_[pod.node];
  here.insert(std::ranges::upper_bound(here, pod.pod, {}, &AssumedPod::pod), pod);
  if (pod.queue.valid()) by_queue_[pod.queue] += pod.queue_gpus;
  mark_changed(pod.node);
}

void AssumedRooms::remove(const AssumedPod& pod) {
  const auto here = by_node_.find(pod.node);
  CAPSTAN_ASSERT(here != by_node_.end());
  here->second.erase(std::ranges::find(here->second, pod));
  if (here->second.empty()) by_node_.erase(here);
  if (pod.queue.valid()) by_queue_[pod.queue] += pod.queue_gpus * -1;
  mark_changed(pod.node);
}

void AssumedRooms::refresh(NodeId id, const NodeRoom* base, const model::Eligibility& eligibility) {
  const auto pods = by_node_.find(id);
  if (base == nullptr || pods == by_node_.end()) return set(id, base);
  NodeRoom room = *base;
  for (const AssumedPod& pod : pods->second) {
    if (places(room.free, pod.gpus) < 1) continue;
    fleet::take(room.free, pod.gpus);
    if (room.available) model::take_from(*room.available, eligibility.requests(pod.pod_class));
  }
  set(id, &room);
}

void AssumedRooms::set(NodeId id, const NodeRoom* next) {
  const NodeRoom* before = rooms_.find(id);
  if (before == nullptr && next == nullptr) return;
  if (before != nullptr && next != nullptr && *before == *next) return;
  if (before == nullptr || next == nullptr || !has_same_layout(*before, *next)) ++layout_;
  if (before != nullptr) add_change(id, before->domains);
  if (next != nullptr && (before == nullptr || before->domains != next->domains)) add_change(id, next->domains);
  next == nullptr ? rooms_.erase(id) : rooms_.set(id, *next);
}

void AssumedRooms::add_change(NodeId id, const model::DomainPath& domains) {
  if (changes_.size() == kMaxChanges) {
    changes_.erase(changes_.begin(), changes_.begin() + kMaxChanges / 2);
    first_change_ += kMaxChanges / 2;
  }
  changes_.push_back({id, domains});
}

}  // namespace capstan::fleet
