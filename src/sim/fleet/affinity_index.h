#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace capstan::sim {

/// Remembers to which replica each prefix was last sent. The key is the hash of the prefix's last block. The size is
/// bounded: a bucket is one cache line of four entries, and a new entry replaces the oldest one of its bucket.
class AffinityIndex {
 public:
  struct Place {
    std::uint32_t replica = 0xffff'ffff;
    std::uint32_t serial = 0;  ///< distinguishes replicas with the same number, because numbers are reused

    bool known() const { return replica != 0xffff'ffff; }
    friend bool operator==(const Place&, const Place&) = default;
  };

  /// Makes room for `blocks` entries, rounded up to a power of two.
  explicit AffinityIndex(std::size_t blocks);

  Place find(std::uint64_t hash) const;
  void note(std::uint64_t hash, Place place);

 private:
  struct Entry {
    std::uint64_t hash = 0;
    Place place;
  };
  struct alignas(64) Bucket {
    std::array<Entry, 4> entries;  ///< entries, latest first
  };

  std::size_t bucket_of(std::uint64_t hash) const;
  std::vector<Bucket> buckets_;
};

}  // namespace capstan::sim
