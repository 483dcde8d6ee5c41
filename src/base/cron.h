#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/time.h"

namespace capstan {

/// A schedule in the form of a crontab entry. It has five fields: minute, hour, day of the month, month and day of the
/// week. Each field is `*`, a number, a name (JAN, MON), a range, a list of these, or any of them with `/step`. A word
/// such as @hourly, @daily, @midnight, @weekly, @monthly, @yearly or @annually can replace the five fields. If neither
/// day field is `*`, a day matches if either field matches. Days of the week are 0 to 7; Sunday is 0 and 7. All times
/// are in UTC. Source: POSIX crontab, and the @ words of Kubernetes' CronJob.
class Cron {
 public:
  /// Parses a schedule. An error names the field, what was found and what was expected.
  static Result<Cron> parse(std::string_view text);

  /// Returns the last time of the schedule at or before `at`, looking back at most `max_days` days; nothing if there is
  /// none.
  /// @param at  time since the Unix epoch
  std::optional<Instant> last(Instant at, std::int64_t max_days) const;

  /// Returns the first time of the schedule after `at`, looking ahead at most `max_days` days; nothing if there is
  /// none.
  std::optional<Instant> next(Instant at, std::int64_t max_days) const;

  const std::string& text() const { return text_; }
  friend bool operator==(const Cron& a, const Cron& b) { return a.text_ == b.text_; }

 private:
  bool matches_day(std::int64_t days) const;
  bool matches_minute(std::int64_t of_day) const;

  std::string text_;
  // Bit sets of the values that match, one for each field.
  std::uint64_t minutes_ = 0;
  std::uint64_t hours_ = 0;
  std::uint64_t days_ = 0;
  std::uint64_t months_ = 0;
  std::uint64_t weekdays_ = 0;
  bool any_day_ = false;      // true: the day of the month is `*`
  bool any_weekday_ = false;  // true: the day of the week is `*`
};

}  // namespace capstan
