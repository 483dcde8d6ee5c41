#pragma once

#include <cstdint>
#include <vector>

namespace capstan::sim {

/// Waiting slots, first come, first served. A preempted slot returns to the front. erase() searches from the front,
/// because a client that gives up usually belongs to one of the oldest requests.
class SlotQueue {
 public:
  bool empty() const { return size_ == 0; }
  std::uint32_t size() const { return size_; }
  std::uint32_t front() const { return at(0); }
  std::uint32_t at(std::uint32_t position) const { return slots_[(first_ + position) & mask()]; }

  void push_back(std::uint32_t slot) {
    if (size_ == slots_.size()) grow();
    slots_[(first_ + size_++) & mask()] = slot;
  }
  void push_front(std::uint32_t slot) {
    if (size_ == slots_.size()) grow();
    first_ = (first_ - 1) & mask();
    slots_[first_] = slot;
    ++size_;
  }
  void pop_front() {
    first_ = (first_ + 1) & mask();
    --size_;
  }
  /// Removes the slot, which must be in the queue.
  void erase(std::uint32_t slot) {
    std::uint32_t position = 0;
    while (at(position) != slot) ++position;
    for (; position > 0; --position) slots_[(first_ + position) & mask()] = at(position - 1);
    pop_front();
  }

 private:
  std::uint32_t mask() const { return static_cast<std::uint32_t>(slots_.size()) - 1; }
  void grow() {
    std::vector<std::uint32_t> bigger(slots_.empty() ? 8 : 2 * slots_.size());
    for (std::uint32_t i = 0; i < size_; ++i) bigger[i] = at(i);
    slots_.swap(bigger);
    first_ = 0;
  }

  std::vector<std::uint32_t> slots_;  ///< ring buffer; its length is a power of two
  std::uint32_t first_ = 0;
  std::uint32_t size_ = 0;
};

}  // namespace capstan::sim
