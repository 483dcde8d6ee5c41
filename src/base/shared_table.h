#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "base/assert.h"
#include "base/ids.h"

namespace capstan {

/// A table of values by id. Copies share memory: a copy costs one pointer per 64 rows, and a change of a row copies
/// only its block. Rows may be absent; ids are not reused.
template <typename IdType, typename T>
class SharedTable {
  static constexpr std::size_t kBlock = 64;
  using Block = std::array<std::optional<T>, kBlock>;

 public:
  /// Returns the row, or nullptr if it is absent. The pointer is valid until this table changes or is destroyed.
  const T* find(IdType id) const {
    const std::size_t block = id.value / kBlock;
    if (!id.valid() || block >= blocks_.size() || !blocks_[block]) return nullptr;
    const std::optional<T>& row = (*blocks_[block])[id.value % kBlock];
    return row ? &*row : nullptr;
  }

  const T& at(IdType id) const {
    const T* row = find(id);
    CAPSTAN_ASSERT(row != nullptr);
    return *row;
  }

  void set(IdType id, T value) {
    CAPSTAN_ASSERT(id.valid());
    std::optional<T>& row = writable(id);
    size_ += row ? 0 : 1;
    row = std::move(value);
  }

  void erase(IdType id) {
    if (find(id) == nullptr) return;
    writable(id).reset();
    --size_;
  }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }

  /// Calls `visit(id, row)` for every row in the order of ids.
  template <typename Visit>
  void for_each(Visit&& visit) const {
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      if (!blocks_[b]) continue;
      for (std::size_t i = 0; i < kBlock; ++i) {
        if ((*blocks_[b])[i]) visit(IdType{static_cast<std::uint32_t>(b * kBlock + i)}, *(*blocks_[b])[i]);
      }
    }
  }

 private:
  std::optional<T>& writable(IdType id) {
    const std::size_t block = id.value / kBlock;
    if (block >= blocks_.size()) blocks_.resize(block + 1);
    std::shared_ptr<Block>& shared = blocks_[block];
    if (!shared)
      shared = std::make_shared<Block>();
    else if (shared.use_count() > 1)
      shared = std::make_shared<Block>(*shared);
    return (*shared)[id.value % kBlock];
  }

  std::vector<std::shared_ptr<Block>> blocks_;
  std::size_t size_ = 0;
};

}  // namespace capstan
