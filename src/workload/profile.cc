#include "workload/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "base/assert.h"
#include "workload/line_reader.h"
#include "workload/scan.h"

namespace capstan::workload {
namespace {

constexpr std::string_view kFirstLine = "capstan-profile,1";
constexpr std::int64_t kMinuteMs = 60'000;
constexpr std::int64_t kNsPerMs = 1'000'000;
constexpr std::size_t kMaxMinutes = 366 * 24 * 60;
constexpr std::size_t kMaxCells = 1 << 20;
constexpr std::int64_t kMaxCount = 1LL << 40;
constexpr std::int64_t kMaxMinuteCount = 1'000'000'000;
// Largest mean number of requests of a slice. The arrivals of so small a slice are sorted in the first-level cache.
constexpr std::int64_t kSliceRequests = 512;

/// Reads a profile line by line. Every `bool` result is false after an error, which `lines_` stores.
class ProfileReader {
 public:
  explicit ProfileReader(std::unique_ptr<ByteStream> bytes) : lines_(std::move(bytes)) {}

  Result<Profile> read() {
    if (!read_lines()) return std::unexpected(*lines_.error());
    return std::move(profile_);
  }

 private:
  bool read_lines() {
    if (!lines_.next(line_)) {
      if (lines_.error()) return false;
      return fail_at(nullptr, "the file is empty, expected a workload profile");
    }
    if (line_ != kFirstLine) {
      return fail_at(line_.data(), fmt::format("the first line is '{}', expected '{}'", printable(line_), kFirstLine));
    }
    while (lines_.next(line_)) {
      cursor_ = {line_.data(), line_.data() + line_.size()};
      if (!row()) return false;
    }
    if (lines_.error()) return false;
    return finish();
  }

  bool row() {
    const std::string_view key = line_.substr(0, line_.find(','));
    cursor_.at += std::min(key.size() + 1, line_.size());
    if (key == "source") {
      profile_.source.assign(cursor_.at, cursor_.end);
      return true;
    }
    if (key == "duration_ms") {
      if (!number("duration_ms", 1, kMaxSeconds * 1000, duration_ms_)) return false;
      return row_ends();
    }
    if (key == "minute") return minute();
    if (key == "cell") return cell();
    return fail_at(line_.data(), fmt::format("the row begins with '{}', expected source, duration_ms, minute or cell",
                                             printable(key)));
  }

  bool minute() {
    std::int64_t index = 0, count = 0;
    const char* start = cursor_.at;
    if (!number("the minute", 0, kMaxMinutes - 1, index) || !comma()) return false;
    if (index != static_cast<std::int64_t>(profile_.minutes.size())) {
      return fail_at(
          start, fmt::format("the minute is {}, expected {}: the profile lists each minute once and in order", index,
                             profile_.minutes.size()));
    }
    if (!number("the count", 0, kMaxMinuteCount, count)) return false;
    profile_.minutes.push_back(count);
    return row_ends();
  }

  bool cell() {
    LengthTable::Cell cell{};
    if (cells_.size() == kMaxCells)
      return fail_at(line_.data(),
                     fmt::format("the profile has more than {} cells, expected at most that many", kMaxCells));
    if (!bounds("input", cell.input_low, cell.input_high) || !bounds("output", cell.output_low, cell.output_high) ||
        !number("the count", 1, kMaxCount - 1, cell.count) || !comma() ||
        !mean("the input mean", cell.input_low, cell.input_high, cell.input_mean_milli) || !comma() ||
        !mean("the output mean", cell.output_low, cell.output_high, cell.output_mean_milli)) {
      return false;
    }
    if (cell.count >= kMaxCount - total_)
      return fail_at(line_.data(), "the counts of the cells add up to 2^40 or more, expected less");
    total_ += cell.count;
    cells_.push_back(cell);
    return row_ends();
  }

  bool bounds(std::string_view name, std::int32_t& low, std::int32_t& high) {
    std::int64_t first = 0, last = 0;
    if (!number(name, 1, kMaxTokens, first) || !comma() || !number(name, first, kMaxTokens, last) || !comma())
      return false;
    low = static_cast<std::int32_t>(first);
    high = static_cast<std::int32_t>(last);
    return true;
  }

  bool number(std::string_view name, std::int64_t min, std::int64_t max, std::int64_t& value) {
    const char* start = cursor_.at;
    if (scan_whole(cursor_, max, value) && value >= min && at_border()) return true;
    return wrong_value(name, start, fmt::format("a whole number from {} to {}", min, max));
  }

  bool mean(std::string_view name, std::int32_t low, std::int32_t high, std::int64_t& milli) {
    const char* start = cursor_.at;
    Duration value{};
    if (scan_time(cursor_, 3, value) && value.count() >= low * 1000LL && value.count() <= high * 1000LL &&
        at_border()) {
      milli = value.count();
      return true;
    }
    return wrong_value(name, start, fmt::format("a number from {} to {}", low, high));
  }

  bool at_border() const { return cursor_.done() || *cursor_.at == ','; }
  bool comma() { return cursor_.take(',') || fail_at(cursor_.at, "the row ends here, expected another column"); }
  bool row_ends() { return cursor_.done() || fail_at(cursor_.at, "the row has more columns, expected it to end here"); }

  bool wrong_value(std::string_view name, const char* start, std::string_view expected) {
    const std::string_view rest(start, static_cast<std::size_t>(cursor_.end - start));
    return fail_at(start,
                   fmt::format("{} is '{}', expected {}", name, printable(rest.substr(0, rest.find(','))), expected));
  }

  bool fail_at(const char* at, std::string message) {
    return lines_.fail(at == nullptr ? 0 : static_cast<std::size_t>(at - line_.data()) + 1, std::move(message));
  }

  bool finish() {
    if (cells_.empty()) return fail_at(nullptr, "the profile has no cell, expected at least one");
    const auto minutes = static_cast<std::int64_t>(profile_.minutes.size());
    if (duration_ms_ <= (minutes - 1) * kMinuteMs || duration_ms_ > minutes * kMinuteMs) {
      return fail_at(nullptr,
                     fmt::format("duration_ms is {} and the profile has {} minutes, expected a duration that ends in "
                                 "the last minute",
                                 duration_ms_, minutes));
    }
    profile_.duration = Duration(duration_ms_ * kNsPerMs);
    profile_.lengths = std::make_shared<const LengthTable>(std::move(cells_));
    return true;
  }

  LineReader lines_;
  std::string_view line_;
  Cursor cursor_{};
  Profile profile_;
  std::vector<LengthTable::Cell> cells_;
  std::int64_t duration_ms_ = 0;
  std::int64_t total_ = 0;
};

std::int64_t scaled(std::int64_t count, std::int64_t scale_ppm) {
  return static_cast<std::int64_t>(static_cast<__int128>(count) * scale_ppm / 1'000'000);
}

}  // namespace

Result<Profile> read_profile(std::unique_ptr<ByteStream> bytes) { return ProfileReader(std::move(bytes)).read(); }

Result<Profile> find_profile(const std::string& name_or_path) {
  if (name_or_path.starts_with(kFirstLine)) {
    Result<std::unique_ptr<ByteStream>> bytes = open_bytes_in_memory(name_or_path, "profile");
    if (!bytes) return std::unexpected(bytes.error());
    return read_profile(std::move(*bytes));
  }
  std::string names;
  for (const BundledProfile& bundled : bundled_profiles()) {
    if (bundled.name == name_or_path) {
      Result<std::unique_ptr<ByteStream>> bytes = open_bytes_in_memory(bundled.text, name_or_path);
      if (!bytes) return std::unexpected(bytes.error());
      return read_profile(std::move(*bytes));
    }
    names += fmt::format("{}{}", names.empty() ? "" : ", ", bundled.name);
  }
  Result<std::unique_ptr<ByteStream>> bytes = open_bytes(name_or_path);
  if (!bytes) {
    Error error = bytes.error();
    error.message += fmt::format(", expected a bundled profile ({}) or the path of a profile", names);
    return std::unexpected(std::move(error));
  }
  return read_profile(std::move(*bytes));
}

ProfileSource::ProfileSource(Profile profile, std::int64_t scale_ppm, std::uint64_t seed)
    : profile_(std::move(profile)),
      scale_ppm_(scale_ppm),
      arrivals_(seed, "workload.arrivals"),
      lengths_(seed, "workload.lengths"),
      deck_(profile_.lengths) {}

/// Distributes the requests of the next minute at random over slices of equal length.
bool ProfileSource::next_minute() {
  if (minute_ == profile_.minutes.size()) return false;
  const std::int64_t before = scaled(counted_, scale_ppm_);
  counted_ += profile_.minutes[minute_];
  const std::int64_t count = scaled(counted_, scale_ppm_) - before;
  minute_start_ns_ = static_cast<std::int64_t>(minute_) * kMinuteMs * kNsPerMs;
  minute_length_ns_ = std::min(kMinuteMs * kNsPerMs, profile_.duration.count() - minute_start_ns_);
  ++minute_;
  slice_ = 0;
  slices_.assign(static_cast<std::size_t>(ceil_div(std::max<std::int64_t>(count, 1), kSliceRequests)), 0);
  if (slices_.size() == 1) {
    slices_[0] = static_cast<std::uint32_t>(count);
  } else {
    for (std::int64_t i = 0; i < count; ++i) ++slices_[arrivals_.below(slices_.size())];
  }
  return true;
}

bool ProfileSource::next_slice() {
  next_arrival_ = 0;
  arrival_times_ns_.clear();
  while (slice_ == slices_.size()) {
    if (!next_minute()) return false;
  }
  const auto slices = static_cast<__int128>(slices_.size());
  const auto edge = [&](std::size_t slice) {
    return minute_start_ns_ + static_cast<std::int64_t>(minute_length_ns_ * static_cast<__int128>(slice) / slices);
  };
  const std::int64_t first = edge(slice_);
  const auto length = static_cast<std::uint64_t>(std::max<std::int64_t>(1, edge(slice_ + 1) - first));
  arrival_times_ns_.resize(slices_[slice_++]);
  for (std::int64_t& time : arrival_times_ns_) time = first + static_cast<std::int64_t>(arrivals_.below(length));
  sorter_.sort(arrival_times_ns_, std::identity(), std::less<>());
  return true;
}

bool ProfileSource::next(Request& request) {
  while (next_arrival_ == arrival_times_ns_.size()) {
    if (!next_slice()) return false;
  }
  const Lengths lengths = deck_.draw(lengths_);
  request = {.arrival = {Duration(arrival_times_ns_[next_arrival_++])},
             .input_tokens = lengths.input,
             .output_tokens = lengths.output};
  return true;
}

std::size_t ProfileSource::fill(std::span<Request> out) {
  std::size_t count = 0;
  while (count < out.size() && ProfileSource::next(out[count])) ++count;
  return count;
}

double ProfileSource::progress() const {
  return static_cast<double>(minute_) / static_cast<double>(std::max<std::size_t>(1, profile_.minutes.size()));
}

}  // namespace capstan::workload
