#pragma once

#include <algorithm>
#include <forward_list>
#include <memory>
#include <string>
#include <vector>

#include "manifest/document.h"

namespace capstan::manifest {

/// Values stand in blocks that never move; texts that differ from what is written stand beside them. The first block is
/// small, as most files are.
struct Documents::Storage {
  static constexpr std::size_t kFirstBlock = 64;
  static constexpr std::size_t kMostBlock = 2048;
  std::vector<std::unique_ptr<Value[]>> blocks;
  std::size_t all = 0;   ///< of all blocks together
  std::size_t size = 0;  ///< of the last one
  std::size_t used = 0;  ///< of it
  std::forward_list<std::string> texts;

  const Value* keep(std::span<const Value> values) {
    if (values.empty()) return nullptr;
    if (used + values.size() > size) {
      size = std::max(std::clamp(all, kFirstBlock, kMostBlock), values.size());
      all += size;
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
