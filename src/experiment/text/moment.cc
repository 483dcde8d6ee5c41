#include "experiment/text/moment.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>

#include "experiment/text/words.h"
#include "manifest/scalars.h"

namespace capstan::experiment {
namespace {

constexpr std::int64_t kDaySeconds = 86'400;
constexpr std::int64_t kMaxSimulationSeconds = 10 * 366 * kDaySeconds;

std::string date_words(std::int64_t seconds) {
  const std::chrono::year_month_day date{std::chrono::sys_days(std::chrono::days(seconds / kDaySeconds))};
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                     static_cast<unsigned>(date.day()));
}

/// Returns a time of day, or a time since the start of a simulation.
std::string time_of(std::int64_t seconds) { return clock(Instant{std::chrono::seconds(seconds)}); }

/// Reads a moment from left to right.
class MomentReader {
 public:
  explicit MomentReader(std::string_view text) : rest_(text) {}

  bool take(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }
  /// Reads a number of `fewest` to `most` digits.
  std::optional<std::int64_t> number(std::size_t fewest, std::size_t most) {
    std::size_t digits = 0;
    std::int64_t value = 0;
    for (; digits < most && digits < rest_.size() && rest_[digits] >= '0' && rest_[digits] <= '9'; ++digits) {
      value = value * 10 + (rest_[digits] - '0');
    }
    if (digits < fewest) return std::nullopt;
    rest_.remove_prefix(digits);
    return value;
  }
  /// Reads "02:14", "02:14:05" or "02:14:05.250".
  std::optional<Duration> time() {
    const auto hours = number(1, 3);
    if (!hours || !take(":")) return std::nullopt;
    const auto minutes = number(2, 2);
    if (!minutes || *minutes > 59) return std::nullopt;
    Duration time = std::chrono::hours(*hours) + std::chrono::minutes(*minutes);
    if (!take(":")) return time;
    const auto seconds = number(2, 2);
    if (!seconds || *seconds > 59) return std::nullopt;
    time += std::chrono::seconds(*seconds);
    if (!take(".")) return time;
    const std::size_t before = rest_.size();
    const auto fraction = number(1, 9);
    if (!fraction) return std::nullopt;
    std::int64_t ns = *fraction;
    for (std::size_t digits = before - rest_.size(); digits < 9; ++digits) ns *= 10;
    return time + Duration(ns);
  }
  /// Reads "2026-11-26" as the time since 1970.
  std::optional<Duration> date() {
    const auto year = number(4, 4);
    if (!year || !take("-")) return std::nullopt;
    const auto month = number(2, 2);
    if (!month || !take("-")) return std::nullopt;
    const auto day = number(2, 2);
    if (!day || *year < 1970 || *year > 2200) return std::nullopt;
    const std::chrono::year_month_day date{std::chrono::year(static_cast<int>(*year)),
                                           std::chrono::month(static_cast<unsigned>(*month)),
                                           std::chrono::day(static_cast<unsigned>(*day))};
    if (!date.ok()) return std::nullopt;
    return std::chrono::sys_days(date).time_since_epoch();
  }
  bool is_at_end() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

std::optional<Instant> read_date_and_time(std::string_view text) {
  MomentReader reader(text);
  const std::optional<Duration> date = reader.date();
  if (!date || !(reader.take("T") || reader.take(" "))) return std::nullopt;
  const std::optional<Duration> time = reader.time();
  if (!time || *time >= std::chrono::hours(24)) return std::nullopt;
  if (!reader.take("Z")) reader.take(" UTC");
  return reader.is_at_end() ? std::optional(Instant{*date + *time}) : std::nullopt;
}

std::optional<Instant> read_time(std::string_view text, Instant first) {
  MomentReader reader(text);
  const std::optional<Duration> time = reader.time();
  if (!time || !reader.is_at_end()) return std::nullopt;
  if (!is_wall_time(first)) return Instant{*time};
  if (*time >= std::chrono::hours(24)) return std::nullopt;
  const Duration day = std::chrono::floor<std::chrono::days>(first.since_start);
  const Instant at{day + *time};
  // "02:14" means a whole minute, and "02:14:05" a whole second. The result is on the day of the first state, or on the
  // next day if this minute or second is over before the first state.
  const Duration named =
      std::ranges::count(text, ':') == 1 ? Duration(std::chrono::minutes(1)) : std::chrono::seconds(1);
  return at + named > first ? at : at + std::chrono::days(1);
}

}  // namespace

bool is_wall_time(Instant at) { return whole_seconds(at.since_start) >= kMaxSimulationSeconds; }

std::string moment_words(Instant at) {
  if (!is_wall_time(at)) return clock(at);
  const std::int64_t seconds = whole_seconds(at.since_start);
  return fmt::format("{} {} UTC", date_words(seconds), time_of(seconds % kDaySeconds));
}

std::string moment_argument(Instant at) {
  const std::int64_t all_ms = std::chrono::floor<std::chrono::milliseconds>(at.since_start).count();
  const std::int64_t seconds = all_ms / 1000, ms = all_ms % 1000;
  if (!is_wall_time(at)) return ms == 0 ? fmt::format("{}s", seconds) : fmt::format("{}ms", all_ms);
  const std::string fraction = ms == 0 ? "" : fmt::format(".{:03}", ms);
  return fmt::format("{}T{}{}Z", date_words(seconds), time_of(seconds % kDaySeconds), fraction);
}

Result<Instant> read_recorded_moment(std::string_view text, Instant first) {
  if (const std::optional<Duration> since = manifest::read_duration(text); since && *since >= Duration{}) {
    return is_wall_time(first) ? first + *since : Instant{*since};
  }
  if (const std::optional<Instant> at = read_time(text, first)) return *at;
  const std::optional<Instant> at = read_date_and_time(text);
  if (at && is_wall_time(first)) return *at;
  return std::unexpected(
      Error{ErrorKind::usage, "--at", 0, 0,
            fmt::format("\"{}\", expected a duration since the start such as 33m, or a time such as {}", text,
                        is_wall_time(first) ? moment_argument(first) : "00:33:00")});
}

}  // namespace capstan::experiment
