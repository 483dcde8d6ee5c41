#include "signals/histogram.h"

#include <algorithm>

#include "base/assert.h"

namespace capstan::signals {
namespace {

std::int64_t slot_number(Instant at, Duration window) {
  const std::int64_t span = std::max<std::int64_t>(1, window.count() / static_cast<int>(WindowedHistogram::kSlots));
  return at.since_start.count() / span;
}

}  // namespace

void Histogram::add(const Histogram& other) {
  if (bounds != other.bounds) {
    *this = other;
    return;
  }
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (__builtin_add_overflow(counts[i], other.counts[i], &counts[i])) counts[i] = INT64_MAX;
  }
}

std::optional<std::int64_t> quantile(const Histogram& histogram, std::int64_t share_ppm) {
  CAPSTAN_ASSERT(share_ppm >= 0 && share_ppm <= 1'000'000);
  if (histogram.total() <= 0) return std::nullopt;
  const __int128 rank_millionths = static_cast<__int128>(share_ppm) * histogram.total();
  const auto at_least = [&](std::int64_t count) { return static_cast<__int128>(count) * 1'000'000 >= rank_millionths; };
  const std::size_t last = histogram.counts.size() - 1;
  const auto found = std::find_if(histogram.counts.begin(), histogram.counts.end(), at_least);
  const auto bucket = static_cast<std::size_t>(found - histogram.counts.begin());
  if (bucket == last) return last == 0 ? 0 : histogram.bounds[last - 1];
  if (bucket == 0 && histogram.bounds[0] <= 0) return histogram.bounds[0];
  const std::int64_t start = bucket == 0 ? 0 : histogram.bounds[bucket - 1];
  const std::int64_t below = bucket == 0 ? 0 : histogram.counts[bucket - 1];
  const std::int64_t inside = histogram.counts[bucket] - below;
  if (inside == 0) return start;
  const __int128 part = rank_millionths - static_cast<__int128>(below) * 1'000'000;
  // Dividing first keeps the product within 128 bits: a hostile page may have bounds and counts of nineteen digits.
  const __int128 part_ppm = part / inside;
  const __int128 wide = histogram.bounds[bucket];
  return static_cast<std::int64_t>(start + (wide - start) * part_ppm / 1'000'000);
}

std::optional<std::int64_t> share_above_ppm(const Histogram& histogram, std::int64_t value) {
  if (histogram.total() <= 0) return std::nullopt;
  const auto found = std::ranges::upper_bound(histogram.bounds, value);
  const auto bucket = static_cast<std::size_t>(found - histogram.bounds.begin());
  // `value` lies in this bucket. The observations above `value` are in a part of this bucket and in all later buckets.
  if (bucket == histogram.bounds.size()) return 0;
  const std::int64_t below = bucket == 0 ? 0 : histogram.counts[bucket - 1];
  const std::int64_t start =
      bucket == 0 ? std::min<std::int64_t>(0, histogram.bounds[0]) : histogram.bounds[bucket - 1];
  const std::int64_t end = histogram.bounds[bucket];
  const std::int64_t inside = histogram.counts[bucket] - below;
  __int128 above = static_cast<__int128>(histogram.total() - histogram.counts[bucket]) * 1'000'000;
  const bool takes_all = end == Histogram::kInfinity || value <= start;
  const __int128 wide = end, part_ppm = takes_all ? 1'000'000 : (wide - value) * 1'000'000 / (wide - start);
  above += inside * part_ppm;
  return static_cast<std::int64_t>(above / histogram.total());
}

void WindowedHistogram::add(const Histogram& increment, Instant at, Duration window) {
  const std::int64_t number = slot_number(at, window);
  Slot& slot = slots_[static_cast<std::size_t>(number) % kSlots];
  if (slot.number != number) slot = {number, {}};
  slot.increment.add(increment);
}

Histogram WindowedHistogram::sum(Instant now, Duration window) const {
  const std::int64_t newest = slot_number(now, window);
  Histogram all;
  for (std::int64_t number = newest - static_cast<std::int64_t>(kSlots) + 1; number <= newest; ++number) {
    if (number < 0) continue;
    const Slot& slot = slots_[static_cast<std::size_t>(number) % kSlots];
    if (slot.number == number && !slot.increment.bounds.empty()) all.add(slot.increment);
  }
  return all;
}

}  // namespace capstan::signals
