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
constexpr std::int64_t kOne = 1'000'000;      // a scale of 1, in millionths
constexpr std::int64_t kSliceEntries = 4096;  // target number of requests in a slice
constexpr std::int64_t kFirstSliceNs = 1'000'000;
constexpr std::int64_t kMaxSliceNs = 1'000'000'000;

}  // namespace

SuperposedTrace::SuperposedTrace(std::unique_ptr<Source> trace, std::int64_t scale_ppm, Duration jitter,
                                 std::uint64_t seed)
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

/// Reads rows until `rows_` holds every row that arrives before `ns` and at least one later row.
void SuperposedTrace::read_to(std::int64_t ns) {
  while (!trace_ended_ && (rows_.empty() || rows_.back().arrival.since_start.count() < ns)) {
    batch_.resize(kBatch);
    batch_.resize(trace_->fill(batch_));
    trace_ended_ = batch_.size() < kBatch;
    rows_.insert(rows_.end(), batch_.begin(), batch_.end());
  }
}

void SuperposedTrace::add_to_slice(const Copy& copy, std::uint32_t index, std::uint64_t row, std::int64_t at_ns) {
  if (copy.keep_below != 0 && mix64(mix64(row + 1) ^ mix64(copy.salt + 0x7468696eULL)) >= copy.keep_below) return;
  slice_.push_back({at_ns, index, row});
}

/// Finds, for each copy, the rows that its shift would move before the start. They are mirrored at the start, so they
/// come in reverse order.
void SuperposedTrace::start() {
  started_ = true;
  read_to(jitter_ns_ + 1);
  for (Copy& copy : copies_) {
    const auto kept = std::ranges::lower_bound(
        rows_, -copy.shift_ns, {}, [](const Request& request) { return request.arrival.since_start.count(); });
    copy.mirrored = copy.cursor = static_cast<std::uint64_t>(kept - rows_.begin());
  }
}

/// Collects the requests of all copies in the next slice of time that is not empty, sorted by time, copy and row.
bool SuperposedTrace::next_slice() {
  returned_ = 0;
  slice_.clear();
  if (!started_) start();
  const auto target = std::max(kSliceEntries, static_cast<std::int64_t>(copies_.size()));
  while (slice_.empty()) {
    const std::int64_t end = slice_start_ns_ + slice_ns_;
    read_to(end + jitter_ns_);
    const std::uint64_t rows_end = first_row_ + rows_.size();
    std::int64_t next_ns = std::numeric_limits<std::int64_t>::max();  // earliest request after this slice
    for (std::uint32_t index = 0; index < copies_.size(); ++index) {
      Copy& copy = copies_[index];
      for (; copy.mirrored > 0; --copy.mirrored) {
        const std::int64_t at_ns = -(row_ns(copy.mirrored - 1) + copy.shift_ns);
        if (at_ns >= end) {
          next_ns = std::min(next_ns, at_ns);
          break;
        }
        add_to_slice(copy, index, copy.mirrored - 1, at_ns);
      }
      for (; copy.cursor < rows_end; ++copy.cursor) {
        const std::int64_t at_ns = row_ns(copy.cursor) + copy.shift_ns;
        if (at_ns >= end) {
          next_ns = std::min(next_ns, at_ns);
          break;
        }
        add_to_slice(copy, index, copy.cursor, at_ns);
      }
    }
    if (slice_.empty() && trace_ended_ && next_ns == std::numeric_limits<std::int64_t>::max()) return false;
    // No copy of an unread row arrives earlier than the last row that was read, minus the jitter.
    if (!trace_ended_) next_ns = std::min(next_ns, rows_.back().arrival.since_start.count() - jitter_ns_);
    slice_start_ns_ = slice_.empty() ? std::max(end, next_ns) : end;
    const auto found = static_cast<std::int64_t>(slice_.size());
    if (found > target)
      slice_ns_ = std::max<std::int64_t>(1, slice_ns_ / 2);
    else if (found < target / 4)
      slice_ns_ = std::min(kMaxSliceNs, slice_ns_ * 2);
  }
  const auto time_of = [](const Entry& entry) { return entry.at_ns; };
  sorter_.sort(slice_, time_of, [](const Entry& a, const Entry& b) {
    if (a.at_ns != b.at_ns) return a.at_ns < b.at_ns;
    return a.copy != b.copy ? a.copy < b.copy : a.row < b.row;
  });
  return true;
}

/// Drops the rows that every copy has returned, once they are at least half of all rows; moving the others then costs
/// at most one step per dropped row. Called only between slices, because the entries of a slice refer to rows.
void SuperposedTrace::drop_old_rows() {
  std::uint64_t oldest = first_row_ + rows_.size();
  for (const Copy& copy : copies_) oldest = std::min(oldest, copy.mirrored == 0 ? copy.cursor : first_row_);
  const std::uint64_t unused = oldest - first_row_;
  if (unused < kBatch || unused < rows_.size() / 2) return;
  rows_.erase(rows_.begin(), rows_.begin() + static_cast<std::ptrdiff_t>(unused));
  first_row_ = oldest;
}

bool SuperposedTrace::next(Request& request) { return SuperposedTrace::fill(std::span(&request, 1)) == 1; }

std::size_t SuperposedTrace::fill(std::span<Request> out) {
  std::size_t count = 0;
  while (count < out.size()) {
    if (returned_ == slice_.size()) {
      if (started_) drop_old_rows();
      if (!next_slice()) break;
    }
    const std::size_t add_to_slice = std::min(out.size() - count, slice_.size() - returned_);
    for (std::size_t i = 0; i < add_to_slice; ++i) {
      const Entry& entry = slice_[returned_++];
      Request& request = out[count++];
      request = rows_[entry.row - first_row_];
      request.arrival = {Duration(entry.at_ns)};
      request.prefix_salt = copies_[entry.copy].salt;
    }
  }
  return count;
}

}  // namespace capstan::workload
