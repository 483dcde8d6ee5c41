#include "workload/scan.h"

#include <fmt/format.h>

namespace capstan::workload {
namespace {

constexpr std::int64_t kNsPerSecond = 1'000'000'000;

/// Scans exactly `count` digits.
bool scan_digits(Cursor& cursor, int count, int& value) {
  if (cursor.end - cursor.at < count) return false;
  int sum = 0;
  for (int i = 0; i < count; ++i) {
    if (!is_digit(cursor.at[i])) return false;
    sum = sum * 10 + (cursor.at[i] - '0');
  }
  cursor.at += count;
  value = sum;
  return true;
}

/// Scans the digits after a decimal point, at least one, in units of 10^-digits; further digits are dropped.
bool scan_fraction(Cursor& cursor, int digits, std::int64_t& value) {
  if (cursor.done() || !is_digit(*cursor.at)) return false;
  std::int64_t sum = 0;
  int missing = digits;
  for (; !cursor.done() && is_digit(*cursor.at); ++cursor.at) {
    if (missing > 0) {
      sum = sum * 10 + (*cursor.at - '0');
      --missing;
    }
  }
  while (missing-- > 0) sum *= 10;
  value = sum;
  return true;
}

bool is_leap_year(int year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

int days_of_month(int year, int month) {
  constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return kDays[month - 1] + (month == 2 && is_leap_year(year) ? 1 : 0);
}

/// Returns the days since 1970-01-01 in the Gregorian calendar (Hinnant's days_from_civil), for years >= 1970.
std::int64_t days_since_1970(int year, int month, int day) {
  const int shifted = month <= 2 ? year - 1 : year;
  const int era = shifted / 400;
  const int year_of_era = shifted - era * 400;
  const int day_of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
  const int day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return static_cast<std::int64_t>(era) * 146097 + day_of_era - 719468;
}

}  // namespace

std::string RowTimes::fault(Duration time) const {
  if (time < last_) {
    return fmt::format("the time goes back by {:.9f} s, expected rows in order of arrival", in_seconds(last_ - time));
  }
  return fmt::format("the row comes {:.0f} s after the first, expected at most {} days ({:.0f} s)",
                     in_seconds(time - *first_), kLongest / std::chrono::hours(24), in_seconds(kLongest));
}

bool scan_time(Cursor& cursor, int exponent, Duration& value) {
  std::int64_t unit = 1;
  for (int i = 0; i < exponent; ++i) unit *= 10;
  if (cursor.done() || !is_digit(*cursor.at)) return false;
  const std::int64_t max = kMaxSeconds * (kNsPerSecond / unit);
  std::int64_t whole = 0;
  for (; !cursor.done() && is_digit(*cursor.at); ++cursor.at) {
    whole = whole * 10 + (*cursor.at - '0');
    if (whole > max) return false;
  }
  std::int64_t fraction = 0;
  if (cursor.take('.') && !scan_fraction(cursor, exponent, fraction)) return false;
  value = Duration(whole * unit + fraction);
  return true;
}

bool scan_timestamp(Cursor& cursor, Duration& value) {
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0;
  if (!scan_digits(cursor, 4, year) || !cursor.take('-') || !scan_digits(cursor, 2, month) || !cursor.take('-') ||
      !scan_digits(cursor, 2, day) || !(cursor.take(' ') || cursor.take('T')) || !scan_digits(cursor, 2, hour) ||
      !cursor.take(':') || !scan_digits(cursor, 2, minute) || !cursor.take(':') || !scan_digits(cursor, 2, second)) {
    return false;
  }
  if (year < 1970 || year > 2199 || month < 1 || month > 12 || day < 1 || day > days_of_month(year, month) ||
      hour > 23 || minute > 59 || second > 59) {
    return false;
  }
  std::int64_t fraction = 0;
  if (cursor.take('.') && !scan_fraction(cursor, 9, fraction)) return false;
  std::int64_t offset_minutes = 0;
  if (!cursor.take('Z') && !cursor.done() && (*cursor.at == '+' || *cursor.at == '-')) {
    const bool west = *cursor.at++ == '-';
    int hours = 0, minutes = 0;
    if (!scan_digits(cursor, 2, hours) || !cursor.take(':') || !scan_digits(cursor, 2, minutes)) return false;
    if (hours > 23 || minutes > 59) return false;
    offset_minutes = (west ? -1 : 1) * (hours * 60 + minutes);
  }
  const std::int64_t minutes = (days_since_1970(year, month, day) * 24 + hour) * 60 + minute - offset_minutes;
  value = Duration((minutes * 60 + second) * kNsPerSecond + fraction);
  return true;
}

std::string printable(std::string_view found) {
  constexpr std::size_t kMaxPrinted = 40;
  std::string text;
  for (char c : found.substr(0, kMaxPrinted)) {
    if (c >= 0x20 && c < 0x7f)
      text += c;
    else
      text += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  }
  if (found.size() > kMaxPrinted) text += "...";
  return text;
}

}  // namespace capstan::workload
