#pragma once

#include <cstdint>
#include <vector>

namespace capstan::sim {

/// Groups of prompt KV in memory (512 tokens, 32 blocks each), by hash, with their number of users. A group without
/// users can be evicted; the group that was released first is evicted first. The KV memory bounds the size. The replica
/// counts the blocks.
class PrefixCache {
 public:
  static constexpr std::uint32_t kNone = 0xffff'ffff;

  explicit PrefixCache(std::int64_t max_groups);

  std::uint32_t find(std::uint64_t hash) const;  ///< returns the group, or kNone
  std::uint32_t insert(std::uint64_t hash);      ///< returns a new group with one user; `hash` must be absent
  void use(std::uint32_t group);                 ///< adds a user
  void release(std::uint32_t group);             ///< removes a user; a group without users may be evicted
  bool used(std::uint32_t group) const { return groups_[group].users > 0; }
  void evict_oldest();  ///< evicts the group that was released first; requires evictable() > 0
  std::int64_t evictable() const { return evictable_; }  ///< returns the number of groups without a user

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
