#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace capstan::workload {

/// Stores the prefix hashes of many requests. The hashes of one request are contiguous and never move. The arena only
/// grows: 8 bytes for each block of 512 tokens, so that a request of 12,000 tokens needs 192 bytes.
class BlockArena {
 public:
  std::span<std::uint64_t> reserve(std::size_t count) {
    if (count > free_) {
      const std::size_t size = std::max(count, kChunk);
      chunks_.push_back(std::make_unique_for_overwrite<std::uint64_t[]>(size));
      next_ = chunks_.back().get();
      free_ = size;
    }
    const std::span<std::uint64_t> piece(next_, count);
    next_ += count;
    free_ -= count;
    return piece;
  }

  std::span<const std::uint64_t> store(std::span<const std::uint64_t> blocks) {
    const std::span<std::uint64_t> piece = reserve(blocks.size());
    std::ranges::copy(blocks, piece.begin());
    return piece;
  }

 private:
  static constexpr std::size_t kChunk = 8192;
  std::vector<std::unique_ptr<std::uint64_t[]>> chunks_;
  std::uint64_t* next_ = nullptr;
  std::size_t free_ = 0;
};

}  // namespace capstan::workload
