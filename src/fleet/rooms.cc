#include "fleet/rooms.h"

#include <algorithm>

#include "base/assert.h"

namespace capstan::fleet {

const NodeRoom* Rooms::find(NodeId id) const {
  const std::size_t page = id.value / kPage;
  if (page >= pages_.size() || pages_[page].empty()) return nullptr;
  const std::optional<NodeRoom>& room = pages_[page][id.value % kPage];
  return room ? &*room : nullptr;
}

const DomainRoom* Rooms::find(const DomainKey& key) const {
  const auto found = domains_.find(key);
  return found == domains_.end() ? nullptr : &found->second;
}

const FreeNodes* Rooms::nodes_of(GpuKindId gpu) const {
  const auto found = by_gpu_.find(gpu);
  return found == by_gpu_.end() ? nullptr : &found->second;
}

const std::set<std::pair<MilliGpu, DomainId>>* Rooms::domains_by_free(model::Level level, GpuKindId gpu) const {
  const auto found = domains_by_free_.find({level, gpu});
  return found == domains_by_free_.end() ? nullptr : &found->second;
}

void Rooms::count(NodeId id, const NodeRoom& room, int sign) {
  if (!room.open) return;
  const NodeSpace space = space_of(room);
  FreeNodes& of_kind = by_gpu_[room.gpu];
  if (sign > 0) {
    of_kind.insert(room.node_class, space, id);
  } else {
    of_kind.erase(room.node_class, space, id);
    if (of_kind.empty()) by_gpu_.erase(room.gpu);
  }
  room.domains.for_each([&](model::Level level, DomainId domain) {
    if (level == TopologyLevel::node || (!domain.valid() && level != TopologyLevel::cluster)) return;
    const DomainKey key{level, domain, room.gpu};
    DomainRoom& sum = domains_[key];
    const std::pair key_by_free{level, room.gpu};
    if (const auto sorted = domains_by_free_.find(key_by_free); sorted != domains_by_free_.end()) {
      sorted->second.erase({sum.free, domain});
      // An index built from scratch would not have the empty set.
      if (sorted->second.empty()) domains_by_free_.erase(sorted);
    }
    sum.total += room.gpus * sign;
    sum.free += room.free.sum * sign;
    if (sign > 0)
      sum.nodes.insert(room.node_class, space, id);
    else
      sum.nodes.erase(room.node_class, space, id);
    if (sum.nodes.empty())
      domains_.erase(key);
    else
      domains_by_free_[key_by_free].insert({sum.free, domain});
  });
}

void Rooms::set(NodeId id, const NodeRoom& room) {
  erase(id);
  const std::size_t at = id.value / kPage;
  if (at >= pages_.size()) pages_.resize(at + 1);
  Page& page = pages_[at];
  if (page.empty()) page.resize(kPage);
  page[id.value % kPage] = room;
  count(id, room, +1);
}

void Rooms::erase(NodeId id) {
  const NodeRoom* room = find(id);
  if (room == nullptr) return;
  count(id, *room, -1);
  Page& page = pages_[id.value / kPage];
  page[id.value % kPage].reset();
  if (std::ranges::none_of(page, &std::optional<NodeRoom>::has_value)) page = {};
  while (!pages_.empty() && pages_.back().empty()) pages_.pop_back();
}

void Rooms::take(NodeId id, MilliGpu gpus, const model::Resources& others) {
  const NodeRoom* before = find(id);
  CAPSTAN_ASSERT(before != nullptr);
  NodeRoom room = *before;
  CAPSTAN_ASSERT(gpus >= MilliGpu{} && room.free.sum >= gpus);
  fleet::take(room.free, gpus);
  if (room.available) model::take_from(*room.available, others);
  set(id, room);
}

}  // namespace capstan::fleet
