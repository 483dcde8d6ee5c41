#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace capstan::sim {

/// Which replica was last sent a prefix, by the hash of its last block. Bounded: buckets of four entries, one cache
/// line each, in which the least recently noted one gives way.
class AffinityIndex {
 public:
  struct Place {
    std::uint32_t replica = 0xffff'ffff;
    std::uint32_t serial = 0;  ///< which replica of that number, since numbers are used again

    bool known() const { return replica != 0xffff'ffff; }
    friend bool operator==(const Place&, const Place&) = default;
  };

  /// At least `blocks` entries, rounded up to a power of two.
  explicit AffinityIndex(std::size_t blocks);

  Place find(std::uint64_t hash) const;
  void note(std::uint64_t hash, Place place);

 private:
  struct Entry {
    std::uint64_t hash = 0;
    Place place;
  };
  struct alignas(64) Bucket {
    std::array<Entry, 4> entries;  ///< the latest first
  };

  std::size_t bucket(std::uint64_t hash) const;
  std::vector<Bucket> buckets_;
};

}  // namespace capstan::sim
