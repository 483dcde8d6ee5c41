#pragma once

#include <cstdint>
#include <vector>

#include "base/time.h"

namespace capstan::sim {

/// One attempt of one request. Valid while the request's stamp equals `stamp`; the lowest bit, which marks the first
/// token, does not count.
struct Attempt {
  std::uint32_t id = 0;
  std::uint32_t stamp = 0;

  friend bool operator==(const Attempt&, const Attempt&) = default;
};

/// Attempts in insertion order, each with a time. Every attempt has the same time-out, so the deadlines pass in the
/// order in which the attempts began. A ring buffer therefore suffices, and no heap is needed. Entries of ended
/// attempts stay until they reach the front or compact() drops them.
class AttemptRing {
 public:
  struct Entry {
    Instant at;
    Attempt attempt;
  };

  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  const Entry& front() const { return entries_[first_]; }
  void pop_front() {
    first_ = (first_ + 1) & (entries_.size() - 1);
    --size_;
  }
  void push_back(Instant at, Attempt attempt) {
    if (size_ == entries_.size()) grow();
    entries_[(first_ + size_) & (entries_.size() - 1)] = {at, attempt};
    ++size_;
  }

  /// Removes the entries for which `keep(attempt)` is false; the others stay in order.
  template <typename Keep>
  void compact(Keep keep) {
    const std::size_t mask = entries_.size() - 1;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < size_; ++i) {
      const Entry entry = entries_[(first_ + i) & mask];
      if (keep(entry.attempt)) entries_[(first_ + kept++) & mask] = entry;
    }
    size_ = kept;
  }

 private:
  void grow() {
    std::vector<Entry> bigger(entries_.empty() ? 64 : 2 * entries_.size());
    for (std::size_t i = 0; i < size_; ++i) bigger[i] = entries_[(first_ + i) & (entries_.size() - 1)];
    entries_.swap(bigger);
    first_ = 0;
  }

  std::vector<Entry> entries_;  ///< ring buffer; its length is a power of two
  std::size_t first_ = 0;
  std::size_t size_ = 0;
};

}  // namespace capstan::sim
