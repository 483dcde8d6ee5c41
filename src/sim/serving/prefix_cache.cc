#include "sim/serving/prefix_cache.h"

#include "base/assert.h"
#include "base/hash.h"

namespace capstan::sim {

PrefixCache::PrefixCache(std::int64_t max_groups) : max_groups_(max_groups) {}

std::size_t PrefixCache::home(std::uint64_t hash) const { return mix64(hash) & (table_.size() - 1); }

std::uint32_t PrefixCache::find(std::uint64_t hash) const {
  if (table_.empty()) return kNone;
  for (std::size_t i = home(hash);; i = (i + 1) & (table_.size() - 1)) {
    const std::uint32_t group = table_[i];
    if (group == kNone || groups_[group].hash == hash) return group;
  }
}

void PrefixCache::place(std::uint32_t group) {
  std::size_t i = home(groups_[group].hash);
  while (table_[i] != kNone) i = (i + 1) & (table_.size() - 1);
  table_[i] = group;
}

void PrefixCache::grow() {
  std::vector<std::uint32_t> old(table_.empty() ? 64 : 2 * table_.size(), kNone);
  old.swap(table_);
  for (std::uint32_t group : old) {
    if (group != kNone) place(group);
  }
}

std::uint32_t PrefixCache::insert(std::uint64_t hash) {
  std::uint32_t group = 0;
  if (!free_.empty()) {
    group = free_.back();
    free_.pop_back();
  } else {
    group = static_cast<std::uint32_t>(groups_.size());
    CAPSTAN_ASSERT(group < max_groups_);
    groups_.emplace_back();
    if (2 * groups_.size() > table_.size()) grow();
  }
  groups_[group] = {.hash = hash, .users = 1};
  place(group);
  return group;
}

void PrefixCache::unlink(std::uint32_t group) {
  const Group& g = groups_[group];
  (g.older == kNone ? oldest_ : groups_[g.older].newer) = g.newer;
  (g.newer == kNone ? newest_ : groups_[g.newer].older) = g.older;
  --evictable_;
}

void PrefixCache::use(std::uint32_t group) {
  if (groups_[group].users++ == 0) unlink(group);
}

void PrefixCache::release(std::uint32_t group) {
  Group& g = groups_[group];
  CAPSTAN_ASSERT(g.users > 0);
  if (--g.users > 0) return;
  g.older = newest_;
  g.newer = kNone;
  (newest_ == kNone ? oldest_ : groups_[newest_].newer) = group;
  newest_ = group;
  ++evictable_;
}

void PrefixCache::evict_oldest() {
  CAPSTAN_ASSERT(oldest_ != kNone);
  const std::uint32_t group = oldest_;
  unlink(group);
  const std::size_t mask = table_.size() - 1;
  std::size_t hole = home(groups_[group].hash);
  while (table_[hole] != group) hole = (hole + 1) & mask;
  // The loop closes the hole: an entry after the hole moves into it unless the entry's home lies between the two.
  for (std::size_t i = (hole + 1) & mask; table_[i] != kNone; i = (i + 1) & mask) {
    const std::size_t distance = (i - home(groups_[table_[i]].hash)) & mask;
    if (distance < ((i - hole) & mask)) continue;
    table_[hole] = table_[i];
    hole = i;
  }
  table_[hole] = kNone;
  free_.push_back(group);
}

}  // namespace capstan::sim
