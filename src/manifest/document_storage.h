#pragma once

#include <algorithm>
#include <forward_list>
#include <memory>
#include <string>
#include <vector>

#include "manifest/document.h"

namespace capstan::manifest {

/// Owns the values and decoded texts of documents. Values are stored in blocks that never move. Only texts that differ
/// from the source are stored. The first block is small, because most files are small.
struct Documents::Storage {
  static constexpr std::size_t kFirstBlock = 64;
  static constexpr std::size_t kMaxBlock = 2048;
  std::vector<std::unique_ptr<Value[]>> blocks;
  std::size_t total = 0;  ///< capacity of all blocks, in values
  std::size_t size = 0;   ///< capacity of the last block, in values
  std::size_t used = 0;   ///< values in the last block
  std::forward_list<std::string> texts;

  /// Copies values into storage and returns the first copy.
  const Value* store(std::span<const Value> values) {
    if (values.empty()) return nullptr;
    if (used + values.size() > size) {
      size = std::max(std::clamp(total, kFirstBlock, kMaxBlock), values.size());
      total += size;
      blocks.push_back(std::make_unique<Value[]>(size));
      used = 0;
    }
    Value* first = blocks.back().get() + used;
    std::ranges::copy(values, first);
    used += values.size();
    return first;
  }
};

}  // namespace capstan::manifest
