#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/time.h"

namespace capstan {

/// Moments that come again and again, as crontab's five fields name them: minute, hour, day of the month, month, day of
/// the week, each `*`, a number, a name (JAN, MON), a range, a list of these, or any of them with `/step`; or one of
/// @hourly, @daily, @midnight, @weekly, @monthly, @yearly, @annually. Where neither day is `*`, either will do.
/// Days of the week are 0 to 7, and Sunday is 0 and 7. All in UTC.
/// Source: POSIX crontab, and the words that Kubernetes' CronJob takes beside it.
class Cron {
 public:
  /// The error names the field, what was found and what was expected.
  static Result<Cron> parse(std::string_view text);

  /// The last such moment at or before `at`, in so many days before it at most; nothing: there is none.
  /// @param at  counted from the Unix epoch
  std::optional<Instant> last(Instant at, std::int64_t days_most) const;

  /// The first such moment after `at`, in so many days after it at most; nothing: there is none.
  std::optional<Instant> next(Instant at, std::int64_t days_most) const;

  const std::string& text() const { return text_; }
  friend bool operator==(const Cron& a, const Cron& b) { return a.text_ == b.text_; }

 private:
  bool on_day(std::int64_t days) const;
  bool in_minute(std::int64_t of_day) const;

  std::string text_;
  // Of each field the values that count, as bits.
  std::uint64_t minutes_ = 0;
  std::uint64_t hours_ = 0;
  std::uint64_t days_ = 0;
  std::uint64_t months_ = 0;
  std::uint64_t weekdays_ = 0;
  bool any_day_ = false;      // the field is a star
  bool any_weekday_ = false;  // the same
};

}  // namespace capstan
