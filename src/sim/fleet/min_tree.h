#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace capstan::sim {

/// The smallest of many keys that change one at a time, as a tournament: a change replays its leaf's matches up to the
/// first that ends as before, at most log2(size). Among equal keys the lowest index wins.
template <typename Key>
class MinTree {
 public:
  explicit MinTree(Key absent) : absent_(absent) {}

  std::uint32_t top() const { return winners_[1]; }
  const Key& top_key() const { return keys_.empty() ? absent_ : keys_[winners_[1]]; }
  const Key& key(std::uint32_t index) const { return keys_[index]; }

  void set(std::uint32_t index, Key key) {
    if (index >= keys_.size()) grow(index);
    if (keys_[index] == key) return;
    keys_[index] = key;
    for (std::size_t node = (index + keys_.size()) / 2; node >= 1; node /= 2) {
      const std::uint32_t left = winners_[2 * node];
      const std::uint32_t right = winners_[2 * node + 1];
      const std::uint32_t winner = keys_[right] < keys_[left] ? right : left;
      if (winners_[node] == winner && winner != index) return;
      winners_[node] = winner;
    }
  }

 private:
  void grow(std::uint32_t index) {
    keys_.resize(std::bit_ceil(std::size_t{index} + 2), absent_);
    const std::size_t leaves = keys_.size();
    winners_.resize(2 * leaves);
    for (std::size_t i = 0; i < leaves; ++i) winners_[leaves + i] = static_cast<std::uint32_t>(i);
    for (std::size_t node = leaves - 1; node >= 1; --node) {
      const std::uint32_t left = winners_[2 * node];
      const std::uint32_t right = winners_[2 * node + 1];
      winners_[node] = keys_[right] < keys_[left] ? right : left;
    }
  }

  Key absent_;  ///< of an index that was never set; must lose against every other
  std::vector<Key> keys_;
  std::vector<std::uint32_t> winners_;  ///< of each inner node, the root at 1; the leaves behind them are themselves
};

}  // namespace capstan::sim
