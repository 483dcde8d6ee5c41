#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace capstan::sim {

/// The smallest of many keys that change one at a time, as a tournament: a change replays its leaf's matches up to the
/// first that ends as before, at most log2(size). Among equal keys the lowest index wins.
///
/// Nodes hold keys, not references to them, so that the opponents of all matches on a path are read at once and none
/// waits for the match before it.
template <typename Key>
class MinTree {
 public:
  /// `absent` is the key of an index that was never set; none is larger.
  explicit MinTree(Key absent) : absent_(absent), keys_(2, absent), winners_(2) {}

  std::uint32_t top() const { return winners_[1]; }
  Key top_key() const { return keys_[1]; }
  Key key(std::uint32_t index) const { return keys_[leaves_ + index]; }

  void set(std::uint32_t index, Key key) {
    if (index >= leaves_) grow(index);
    std::size_t node = leaves_ + index;
    if (keys_[node] == key) return;
    keys_[node] = key;
    std::uint32_t winner = index;
    while (node > 1) {
      const Key other_key = keys_[node ^ 1];
      const std::uint32_t other = winners_[node ^ 1];
      const bool loses = other_key < key || (other_key == key && other < winner);
      key = loses ? other_key : key;
      winner = loses ? other : winner;
      node /= 2;
      if (keys_[node] == key && winners_[node] == winner) return;
      keys_[node] = key;
      winners_[node] = winner;
    }
  }

 private:
  void grow(std::uint32_t index) {
    const std::size_t leaves = std::bit_ceil(std::size_t{index} + 1);
    std::vector<Key> keys(2 * leaves, absent_);
    for (std::size_t i = 0; i < leaves_; ++i) keys[leaves + i] = keys_[leaves_ + i];
    keys_.swap(keys);
    leaves_ = leaves;
    winners_.resize(2 * leaves);
    for (std::size_t i = 0; i < leaves; ++i) winners_[leaves + i] = static_cast<std::uint32_t>(i);
    for (std::size_t node = leaves - 1; node >= 1; --node) {
      const std::size_t winner = keys_[2 * node + 1] < keys_[2 * node] ? 2 * node + 1 : 2 * node;
      keys_[node] = keys_[winner];
      winners_[node] = winners_[winner];
    }
  }

  Key absent_;
  std::size_t leaves_ = 1;              ///< a power of two
  std::vector<Key> keys_;               ///< of the winner of each node; the root at 1, the leaves from leaves_ on
  std::vector<std::uint32_t> winners_;  ///< of each node, by index
};

}  // namespace capstan::sim
