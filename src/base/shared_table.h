#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "base/assert.h"
#include "base/ids.h"

namespace capstan {

/// A table of values by id. Copies share memory: a copy costs one pointer. The first change after a copy was made
/// copies one pointer per 64 rows, and every change copies at most the block of its row. Rows may be absent. The
/// caller chooses the ids.
template <typename IdType, typename T>
class SharedTable {
  static constexpr std::size_t kBlock = 64;
  using Block = std::array<std::optional<T>, kBlock>;
  using Blocks = std::vector<std::shared_ptr<Block>>;

 public:
  /// Returns the row, or nullptr if it is absent. The pointer is valid until this table changes or is destroyed.
  const T* find(IdType id) const {
    if (!id.valid()) return nullptr;
    const Block* rows = block(id.value / kBlock);
    return rows == nullptr ? nullptr : row_of(*rows, id.value % kBlock);
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
    for (std::size_t b = 0; b < block_count(); ++b) {
      const Block* rows = block(b);
      for (std::size_t i = 0; rows != nullptr && i < kBlock; ++i) {
        if ((*rows)[i]) visit(IdType{static_cast<std::uint32_t>(b * kBlock + i)}, *(*rows)[i]);
      }
    }
  }

  /// Calls `visit(id, before, after)` in the order of ids for every row that differs between `before` and this table.
  /// An absent row is passed as null. If `before` is an earlier copy of this table, an unchanged block of 64 rows costs
  /// one comparison, and an unchanged table costs one comparison in all.
  template <typename Visit>
  void for_each_change(const SharedTable& before, Visit&& visit) const {
    if (blocks_ == before.blocks_) return;
    const std::size_t blocks = std::max(block_count(), before.block_count());
    for (std::size_t b = 0; b < blocks; ++b) {
      const Block* old_rows = before.block(b);
      const Block* new_rows = block(b);
      for (std::size_t i = 0; old_rows != new_rows && i < kBlock; ++i) {
        const T* old_row = old_rows == nullptr ? nullptr : row_of(*old_rows, i);
        const T* new_row = new_rows == nullptr ? nullptr : row_of(*new_rows, i);
        const bool same = old_row == nullptr || new_row == nullptr ? old_row == new_row : *old_row == *new_row;
        if (!same) visit(IdType{static_cast<std::uint32_t>(b * kBlock + i)}, old_row, new_row);
      }
    }
  }

 private:
  static const T* row_of(const Block& rows, std::size_t at) { return rows[at] ? &*rows[at] : nullptr; }
  std::size_t block_count() const { return blocks_ == nullptr ? 0 : blocks_->size(); }
  const Block* block(std::size_t at) const { return at < block_count() ? (*blocks_)[at].get() : nullptr; }

  std::optional<T>& writable(IdType id) {
    const std::size_t block = id.value / kBlock;
    if (!blocks_)
      blocks_ = std::make_shared<Blocks>();
    else if (blocks_.use_count() > 1)
      blocks_ = std::make_shared<Blocks>(*blocks_);
    if (block >= blocks_->size()) blocks_->resize(block + 1);
    std::shared_ptr<Block>& shared = (*blocks_)[block];
    if (!shared)
      shared = std::make_shared<Block>();
    else if (shared.use_count() > 1)
      shared = std::make_shared<Block>(*shared);
    return (*shared)[id.value % kBlock];
  }

  std::shared_ptr<Blocks> blocks_;  // null: no row was ever set
  std::size_t size_ = 0;
};

}  // namespace capstan
