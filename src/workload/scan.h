#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "workload/request.h"

namespace capstan::workload {

/// Nobody records longer: 100 years, so that no sum of times overflows.
inline constexpr std::int64_t kMaxSeconds = 100LL * 365 * 24 * 3600;

/// The times of a trace's rows: in order, and none later than kLongest after the first.
class RowTimes {
 public:
  /// Takes the time of the next row, in any epoch, and gives its arrival. False, and nothing taken, where it is wrong.
  bool take(Duration time, Instant& arrival) {
    if (!first_) first_ = last_ = time;
    if (time < last_ || time - *first_ > kLongest) return false;
    last_ = time;
    arrival = {time - *first_};
    return true;
  }

  /// What is wrong with a time that was not taken.
  std::string fault(Duration time) const;

  bool any() const { return first_.has_value(); }

 private:
  std::optional<Duration> first_;
  Duration last_{};
};

/// Where a scanner stands in a line.
struct Cursor {
  const char* at;
  const char* end;

  bool done() const { return at == end; }
  bool take(char c) {
    if (at == end || *at != c) return false;
    ++at;
    return true;
  }
};

inline bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

/// Digits of a whole number of at most `max`; a fraction of zeros alone ("12.0") is allowed. False, with the cursor
/// anywhere, for anything else.
inline bool scan_whole(Cursor& cursor, std::int64_t max, std::int64_t& value) {
  if (cursor.done() || !is_digit(*cursor.at)) return false;
  std::int64_t sum = 0;
  for (; !cursor.done() && is_digit(*cursor.at); ++cursor.at) {
    const std::int64_t digit = *cursor.at - '0';
    if (sum > (max - digit) / 10) return false;
    sum = sum * 10 + digit;
  }
  if (cursor.take('.')) {
    if (cursor.done() || *cursor.at != '0') return false;
    while (cursor.take('0')) {
    }
  }
  value = sum;
  return true;
}

/// A decimal number of units of 10^`exponent` nanoseconds (9: seconds, 6: milliseconds), at most kMaxSeconds; digits
/// below a nanosecond are dropped.
bool scan_time(Cursor& cursor, int exponent, Duration& value);

/// A date and time of 1970..2199: "2023-11-16 18:15:46.6805900", also with 'T', 'Z' or an offset "+02:00", as time
/// since 1970 UTC. A time without offset is taken as UTC.
bool scan_timestamp(Cursor& cursor, Duration& value);

/// What was found, for an error: cut after 40 bytes, anything but printable ASCII as \xNN.
std::string shown(std::string_view found);

}  // namespace capstan::workload
