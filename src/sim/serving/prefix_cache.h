#pragma once

#include <cstdint>
#include <vector>

namespace capstan::sim {

/// Which groups of prompt KV (512 tokens, 32 blocks) are in memory, by hash; who uses them, and in which order the
/// unused ones go: least recently released first. Bounded by the KV memory. Does not count blocks; the replica does.
class PrefixCache {
 public:
  static constexpr std::uint32_t kNone = 0xffff'ffff;

  explicit PrefixCache(std::int64_t max_groups);

  std::uint32_t find(std::uint64_t hash) const;  ///< the group, or kNone
  std::uint32_t insert(std::uint64_t hash);      ///< a new group, used once; `hash` must be absent
  void use(std::uint32_t group);                 ///< one more user
  void release(std::uint32_t group);             ///< one user fewer; with none left it may be evicted
  bool used(std::uint32_t group) const { return groups_[group].users > 0; }
  void evict_oldest();                                   ///< needs evictable() > 0
  std::int64_t evictable() const { return evictable_; }  ///< groups without a user

 private:
  struct Group {
    std::uint64_t hash = 0;
    std::uint32_t users = 0;
    std::uint32_t older = kNone;
    std::uint32_t newer = kNone;
  };

  void grow();
  std::size_t home(std::uint64_t hash) const;
  void place(std::uint32_t group);
  void unlink(std::uint32_t group);

  std::int64_t evictable_ = 0;
  std::vector<Group> groups_;
  std::vector<std::uint32_t> free_;
  std::vector<std::uint32_t> table_;  ///< open addressing with linear probing, at most half full
  std::int64_t max_groups_;
  std::uint32_t oldest_ = kNone;
  std::uint32_t newest_ = kNone;
};

}  // namespace capstan::sim
