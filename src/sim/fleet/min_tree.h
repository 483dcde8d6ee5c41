#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace capstan::sim {

/// Finds the smallest of many ranks that change one at a time. Among equal ranks the lowest index comes first.
///
/// The ranks are the leaves of a tournament tree: each node holds the smaller of its two children. A change recomputes
/// the nodes above its leaf up to the first that stays the same, at most log2(size) of them. A node is one word, the
/// rank above 32 bits of index, so two nodes are never equal. Siblings are adjacent in memory, and the comparison does
/// not branch, because a branch predictor could not predict it.
///
/// `Word` is std::uint64_t for ranks of 32 bits and unsigned __int128 for ranks of 64 bits.
template <typename Word>
class MinTree {
 public:
  /// `absent` is the rank of an index that was never set; no rank is larger.
  explicit MinTree(Word absent) : absent_(absent), nodes_(4, absent << 32) { nodes_[3] |= 1; }

  std::uint32_t top() const { return static_cast<std::uint32_t>(nodes_[1]); }
  Word top_rank() const { return nodes_[1] >> 32; }
  /// Returns the index with the smallest rank in the half of the tree that does not contain the top. It is likely to be
  /// the next top; callers use it for prefetching.
  std::uint32_t runner_up() const { return static_cast<std::uint32_t>(nodes_[nodes_[2] == nodes_[1] ? 3 : 2]); }
  Word rank(std::uint32_t index) const { return nodes_[leaves_ + index] >> 32; }

  void set(std::uint32_t index, Word rank) {
    if (index >= leaves_) grow(index);
    std::size_t at = leaves_ + index;
    Word best = rank << 32 | index;
    if (nodes_[at] == best) return;
    nodes_[at] = best;
    while (at > 1) {
      best = smaller(best, nodes_[at ^ 1]);
      at /= 2;
      if (nodes_[at] == best) return;
      nodes_[at] = best;
    }
  }

 private:
  static Word smaller(Word a, Word b) { return a ^ ((a ^ b) & -static_cast<Word>(b < a)); }

  void grow(std::uint32_t index) {
    const std::size_t leaves = std::bit_ceil(std::size_t{index} + 1);
    std::vector<Word> nodes(2 * leaves);
    for (std::size_t i = 0; i < leaves; ++i) nodes[leaves + i] = i < leaves_ ? nodes_[leaves_ + i] : absent_ << 32 | i;
    for (std::size_t at = leaves - 1; at >= 1; --at) nodes[at] = smaller(nodes[2 * at], nodes[2 * at + 1]);
    nodes_.swap(nodes);
    leaves_ = leaves;
  }

  Word absent_;
  std::size_t leaves_ = 2;   ///< a power of two
  std::vector<Word> nodes_;  ///< the root at index 1, the leaves from index leaves_ on
};

}  // namespace capstan::sim
