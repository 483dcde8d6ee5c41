#include "workload/superpose.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/assert.h"
#include "base/hash.h"
#include "base/random.h"

namespace capstan::workload {
namespace {

constexpr std::size_t kBatch = 1024;
constexpr std::int64_t kOne = 1'000'000;      // parts of a whole scale
constexpr std::int64_t kSliceEntries = 4096;  // requests that a slice should hold
constexpr std::int64_t kFirstSliceNs = 1'000'000;
constexpr std::int64_t kMaxSliceNs = 1'000'000'000;

}  // namespace

Superposed::Superposed(std::unique_ptr<Source> trace, std::int64_t scale_ppm, Duration jitter, std::uint64_t seed)
    : trace_(std::move(trace)), jitter_ns_(jitter.count()), slice_ns_(kFirstSliceNs) {
  CAPSTAN_ASSERT(scale_ppm > 0 && jitter_ns_ >= 0);
  const std::int64_t whole = scale_ppm / kOne;
  const std::int64_t fraction = scale_ppm % kOne;
  for (std::int64_t i = 0; i < whole + (fraction > 0 ? 1 : 0); ++i) {
    RandomStream stream(seed, "workload.copy", static_cast<std::uint64_t>(i));
    Copy copy;
    copy.salt = i == 0 ? 0 : stream.bits() | 1;
    copy.shift_ns = i == 0 ? 0 : stream.between(-jitter_ns_, jitter_ns_);
    if (i == whole)
      copy.keep_below = static_cast<std::uint64_t>((static_cast<unsigned __int128>(fraction) << 64) / kOne);
    copies_.push_back(copy);
  }
  if (whole == 0) jitter_ns_ = 0;
}

/// Holds every row that arrives before `ns`, and one behind it.
void Superposed::read_to(std::int64_t ns) {
  while (!trace_ended_ && (rows_.empty() || rows_.back().arrival.since_start.count() < ns)) {
    batch_.resize(kBatch);
    batch_.resize(trace_->fill(batch_));
    trace_ended_ = batch_.size() < kBatch;
    rows_.insert(rows_.end(), batch_.begin(), batch_.end());
  }
}

void Superposed::take(const Copy& copy, std::uint32_t index, std::uint64_t row, std::int64_t at_ns) {
  if (copy.keep_below != 0 && mix64(mix64(row + 1) ^ mix64(copy.salt + 0x7468696eULL)) >= copy.keep_below) return;
  slice_.push_back({at_ns, index, row});
}

/// Finds for each copy the rows that its shift would move before the start; they come mirrored, the last one first.
void Superposed::begin() {
  begun_ = true;
  read_to(jitter_ns_ + 1);
  for (Copy& copy : copies_) {
    const auto kept = std::ranges::lower_bound(
        rows_, -copy.shift_ns, {}, [](const Request& request) { return request.arrival.since_start.count(); });
    copy.mirrored = copy.cursor = static_cast<std::uint64_t>(kept - rows_.begin());
  }
}

/// Gathers what all copies give in the next slice of time that holds anything, sorted by time, copy and row.
bool Superposed::next_slice() {
  given_ = 0;
  slice_.clear();
  if (!begun_) begin();
  const auto wanted = std::max(kSliceEntries, static_cast<std::int64_t>(copies_.size()));
  while (slice_.empty()) {
    const std::int64_t end = slice_start_ns_ + slice_ns_;
    read_to(end + jitter_ns_);
    const std::uint64_t rows_end = first_row_ + rows_.size();
    std::int64_t ahead_ns = std::numeric_limits<std::int64_t>::max();  // the earliest behind this slice
    for (std::uint32_t index = 0; index < copies_.size(); ++index) {
      Copy& copy = copies_[index];
      for (; copy.mirrored > 0; --copy.mirrored) {
        const std::int64_t at_ns = -(row_ns(copy.mirrored - 1) + copy.shift_ns);
        if (at_ns >= end) {
          ahead_ns = std::min(ahead_ns, at_ns);
          break;
        }
        take(copy, index, copy.mirrored - 1, at_ns);
      }
      for (; copy.cursor < rows_end; ++copy.cursor) {
        const std::int64_t at_ns = row_ns(copy.cursor) + copy.shift_ns;
        if (at_ns >= end) {
          ahead_ns = std::min(ahead_ns, at_ns);
          break;
        }
        take(copy, index, copy.cursor, at_ns);
      }
    }
    if (slice_.empty() && trace_ended_ && ahead_ns == std::numeric_limits<std::int64_t>::max()) return false;
    // Nothing that is not read yet can come before the last row that is, jitter taken off.
    if (!trace_ended_) ahead_ns = std::min(ahead_ns, rows_.back().arrival.since_start.count() - jitter_ns_);
    slice_start_ns_ = slice_.empty() ? std::max(end, ahead_ns) : end;
    const auto found = static_cast<std::int64_t>(slice_.size());
    if (found > wanted)
      slice_ns_ = std::max<std::int64_t>(1, slice_ns_ / 2);
    else if (found < wanted / 4)
      slice_ns_ = std::min(kMaxSliceNs, slice_ns_ * 2);
  }
  std::ranges::sort(slice_, [](const Entry& a, const Entry& b) {
    if (a.at_ns != b.at_ns) return a.at_ns < b.at_ns;
    return a.copy != b.copy ? a.copy < b.copy : a.row < b.row;
  });
  return true;
}

/// Forgets the rows that every copy has given, once they are the greater part: moving the rest then costs one step a
/// row. Only between slices, whose entries name their rows.
void Superposed::forget() {
  std::uint64_t oldest = first_row_ + rows_.size();
  for (const Copy& copy : copies_) oldest = std::min(oldest, copy.mirrored == 0 ? copy.cursor : first_row_);
  const std::uint64_t dead = oldest - first_row_;
  if (dead < kBatch || dead < rows_.size() / 2) return;
  rows_.erase(rows_.begin(), rows_.begin() + static_cast<std::ptrdiff_t>(dead));
  first_row_ = oldest;
}

bool Superposed::next(Request& request) { return Superposed::fill(std::span(&request, 1)) == 1; }

std::size_t Superposed::fill(std::span<Request> out) {
  std::size_t count = 0;
  while (count < out.size()) {
    if (given_ == slice_.size()) {
      if (begun_) forget();
      if (!next_slice()) break;
    }
    const std::size_t take = std::min(out.size() - count, slice_.size() - given_);
    for (std::size_t i = 0; i < take; ++i) {
      const Entry& entry = slice_[given_++];
      Request& request = out[count++];
      request = rows_[entry.row - first_row_];
      request.arrival = {Duration(entry.at_ns)};
      request.prefix_salt = copies_[entry.copy].salt;
    }
  }
  return count;
}

}  // namespace capstan::workload
