#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.h"
#include "workload/request.h"

namespace capstan::workload {

/// Upper limit of a time in a trace: 100 years, so that no sum of times overflows.
inline constexpr std::int64_t kMaxSeconds = 100LL * 365 * 24 * 3600;

/// Checks the times of a trace's rows: they must be in order and at most kLongest after the first.
class RowTimes {
 public:
  /// Takes the time of the next row, in any epoch, and computes its arrival. Returns false and changes nothing if the
  /// time is not valid.
  bool take(Duration time, Instant& arrival) {
    if (!first_) first_ = last_ = time;
    if (time < last_ || time - *first_ > kLongest) return false;
    last_ = time;
    arrival = {time - *first_};
    return true;
  }

  /// Returns the error message for a time that take() refused.
  std::string fault(Duration time) const;

  bool has_rows() const { return first_.has_value(); }

 private:
  std::optional<Duration> first_;
  Duration last_{};
};

/// The position of a scanner in a line.
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

/// Scans a whole number of at most `max`; a fraction of only zeros ("12.0") is allowed. For any other text returns
/// false and leaves the cursor at an undefined position.
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

/// Scans a decimal number in units of 10^`exponent` nanoseconds (9: seconds, 6: milliseconds), at most kMaxSeconds.
/// Digits below a nanosecond are dropped.
bool scan_time(Cursor& cursor, int exponent, Duration& value);

/// Scans a date and time of 1970..2199: "2023-11-16 18:15:46.6805900", also with 'T', 'Z' or an offset "+02:00".
/// `value` is the time since 1970 UTC. A time without an offset is in UTC.
bool scan_timestamp(Cursor& cursor, Duration& value);

/// Returns text for an error message: at most the first 40 bytes of `found`, with everything but printable ASCII
/// written as \xNN, and "..." if bytes are left out.
std::string printable(std::string_view found);

}  // namespace capstan::workload
