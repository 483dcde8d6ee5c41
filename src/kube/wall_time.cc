#include "kube/wall_time.h"

#include <chrono>
#include <cstdio>

namespace capstan::kube {
namespace {

constexpr std::int64_t kSecond = 1'000'000;
constexpr std::int64_t kDay = 86'400 * kSecond;

/// Removes exactly `digits` digits from the front of `text` and returns their value.
std::optional<int> take_digits(std::string_view& text, std::size_t digits) {
  if (text.size() < digits) return std::nullopt;
  int value = 0;
  for (const char c : text.substr(0, digits)) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + (c - '0');
  }
  text.remove_prefix(digits);
  return value;
}

bool take(std::string_view& text, char a, char b) {
  if (text.empty() || (text[0] != a && text[0] != b)) return false;
  text.remove_prefix(1);
  return true;
}

/// Parses a fraction such as ".123456789" and returns whole microseconds.
std::optional<std::int64_t> take_fraction(std::string_view& text) {
  if (!take(text, '.', ',')) return 0;
  std::int64_t micros = 0;
  std::size_t digits = 0;
  for (; digits < text.size() && text[digits] >= '0' && text[digits] <= '9'; ++digits) {
    if (digits < 6) micros = micros * 10 + (text[digits] - '0');
  }
  for (std::size_t i = digits; i < 6; ++i) micros *= 10;
  text.remove_prefix(digits);
  return digits > 0 ? std::optional(micros) : std::nullopt;
}

/// Parses an offset and returns seconds east of UTC.
std::optional<int> take_offset(std::string_view& text) {
  if (take(text, 'Z', 'z')) return 0;
  if (text.empty() || (text[0] != '+' && text[0] != '-')) return std::nullopt;
  const int sign = text[0] == '-' ? -1 : 1;
  text.remove_prefix(1);
  const std::optional<int> hours = take_digits(text, 2);
  if (!hours || *hours > 23 || !take(text, ':', ':')) return std::nullopt;
  const std::optional<int> minutes = take_digits(text, 2);
  if (!minutes || *minutes > 59) return std::nullopt;
  return sign * (*hours * 3600 + *minutes * 60);
}

/// Parses a date and returns microseconds since 1970.
std::optional<std::int64_t> take_date(std::string_view& text) {
  const std::optional<int> year = take_digits(text, 4);
  if (!year || !take(text, '-', '-')) return std::nullopt;
  const std::optional<int> month = take_digits(text, 2);
  if (!month || !take(text, '-', '-')) return std::nullopt;
  const std::optional<int> day = take_digits(text, 2);
  if (!day) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(*year), std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  if (!date.ok() || *year < 1) return std::nullopt;
  return std::chrono::sys_days(date).time_since_epoch().count() * kDay;
}

/// Parses a time of day and returns microseconds since midnight.
std::optional<std::int64_t> take_clock(std::string_view& text) {
  const std::optional<int> hours = take_digits(text, 2);
  if (!hours || *hours > 23 || !take(text, ':', ':')) return std::nullopt;
  const std::optional<int> minutes = take_digits(text, 2);
  if (!minutes || *minutes > 59 || !take(text, ':', ':')) return std::nullopt;
  const std::optional<int> seconds = take_digits(text, 2);
  if (!seconds || *seconds > 60) return std::nullopt;  // 60: a leap second
  return (*hours * 3600 + *minutes * 60 + *seconds) * kSecond;
}

std::string date_and_clock(WallTime time) {
  const std::int64_t days = (time.unix_us >= 0 ? time.unix_us : time.unix_us - kDay + 1) / kDay;
  const std::chrono::year_month_day date{std::chrono::sys_days(std::chrono::days(days))};
  const std::int64_t seconds = (time.unix_us - days * kDay) / kSecond;
  char text[64];
  std::snprintf(text, sizeof text, "%04d-%02u-%02uT%02d:%02d:%02d", int(date.year()), unsigned(date.month()),
                unsigned(date.day()), int(seconds / 3600), int(seconds / 60 % 60), int(seconds % 60));
  return text;
}

}  // namespace

std::optional<WallTime> read_wall_time(std::string_view text) {
  const std::optional<std::int64_t> date = take_date(text);
  if (!date || !take(text, 'T', 't')) return std::nullopt;
  const std::optional<std::int64_t> clock = take_clock(text);
  const std::optional<std::int64_t> fraction = clock ? take_fraction(text) : std::nullopt;
  const std::optional<int> offset = fraction ? take_offset(text) : std::nullopt;
  if (!offset || !text.empty()) return std::nullopt;
  return WallTime{*date + *clock + *fraction - *offset * kSecond};
}

std::string wall_time_seconds(WallTime time) { return date_and_clock(time) + "Z"; }

std::string wall_time_micros(WallTime time) {
  char fraction[16];
  std::snprintf(fraction, sizeof fraction, ".%06dZ", int((time.unix_us % kSecond + kSecond) % kSecond));
  return date_and_clock(time) + fraction;
}

}  // namespace capstan::kube
