#include "sim/fleet/affinity_index.h"

#include <algorithm>
#include <bit>

#include "base/hash.h"

namespace capstan::sim {

AffinityIndex::AffinityIndex(std::size_t blocks) : buckets_(std::bit_ceil(std::max<std::size_t>(blocks, 4)) / 4) {}

std::size_t AffinityIndex::bucket_of(std::uint64_t hash) const { return mix64(hash) & (buckets_.size() - 1); }

AffinityIndex::Place AffinityIndex::find(std::uint64_t hash) const {
  for (const Entry& entry : buckets_[bucket_of(hash)].entries) {
    if (entry.place.known() && entry.hash == hash) return entry.place;
  }
  return {};
}

void AffinityIndex::note(std::uint64_t hash, Place place) {
  auto& entries = buckets_[bucket_of(hash)].entries;
  std::size_t at = 0;
  while (at + 1 < entries.size() && !(entries[at].place.known() && entries[at].hash == hash)) ++at;
  for (; at > 0; --at) entries[at] = entries[at - 1];
  entries[0] = {hash, place};
}

}  // namespace capstan::sim
