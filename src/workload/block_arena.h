#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace capstan::workload {

/// Prefix hashes of many requests, each request's in one piece that never moves. Only ever grows: 8 bytes a block of
/// 512 tokens, so that a request of 12,000 tokens keeps 192 bytes.
class BlockArena {
 public:
  std::span<std::uint64_t> reserve(std::size_t count) {
    if (count > left_) {
      const std::size_t size = std::max(count, kChunk);
      chunks_.push_back(std::make_unique_for_overwrite<std::uint64_t[]>(size));
      front_ = chunks_.back().get();
      left_ = size;
    }
    const std::span<std::uint64_t> piece(front_, count);
    front_ += count;
    left_ -= count;
    return piece;
  }

  std::span<const std::uint64_t> keep(std::span<const std::uint64_t> blocks) {
    const std::span<std::uint64_t> piece = reserve(blocks.size());
    std::ranges::copy(blocks, piece.begin());
    return piece;
  }

 private:
  static constexpr std::size_t kChunk = 8192;
  std::vector<std::unique_ptr<std::uint64_t[]>> chunks_;
  std::uint64_t* front_ = nullptr;
  std::size_t left_ = 0;
};

}  // namespace capstan::workload
