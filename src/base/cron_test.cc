#include "base/cron.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace capstan {
namespace {

using namespace std::chrono_literals;

/// Returns a date and a time of day as the time since the Unix epoch.
Instant at(int year, unsigned month, unsigned day, int hour = 0, int minute = 0) {
  const std::chrono::sys_days date{std::chrono::year(year) / static_cast<int>(month) / static_cast<int>(day)};
  return {date.time_since_epoch() + std::chrono::hours(hour) + std::chrono::minutes(minute)};
}

TEST(Cron, FindsTheLastTimeBefore) {
  struct Row {
    const char* schedule;
    Instant now;
    Instant last;
  };
  const Row rows[] = {
      {"0 8 * * *", at(2026, 11, 22, 8), at(2026, 11, 22, 8)},
      {"0 8 * * *", at(2026, 11, 22, 7, 59), at(2026, 11, 21, 8)},
      {"*/15 * * * *", at(2026, 11, 22, 7, 59), at(2026, 11, 22, 7, 45)},
      {"5/20 9-17/4 * * *", at(2026, 11, 22, 23), at(2026, 11, 22, 17, 45)},
      {"0 8 * * 1-5", at(2026, 11, 22, 12), at(2026, 11, 20, 8)},  // November 22 is a Sunday
      {"0 8 * * mon", at(2026, 11, 22, 12), at(2026, 11, 16, 8)},
      {"0 8 * * 7", at(2026, 11, 22, 12), at(2026, 11, 22, 8)},
      {"0 0 1,15 * *", at(2026, 11, 22), at(2026, 11, 15)},
      {"0 0 29 FEB *", at(2026, 11, 22), at(2024, 2, 29)},
      {"0 0 13 * 5", at(2026, 11, 22), at(2026, 11, 20)},   // either day field matches
      {"0 0 */2 * 5", at(2026, 11, 22), at(2026, 11, 21)},  // either day field matches
      {"0 0 * * 5", at(2026, 11, 22), at(2026, 11, 20)},
      {"0 0 * * 1/2", at(2026, 11, 22), at(2026, 11, 20)},  // Monday, Wednesday, Friday
      {"@hourly", at(2026, 11, 22, 3, 59), at(2026, 11, 22, 3)},
      {"@yearly", at(2026, 11, 22), at(2026, 1, 1)},
      {"  0\t0 * * *  ", at(1970, 1, 1), at(1970, 1, 1)},
  };
  for (const Row& row : rows) {
    const Result<Cron> cron = Cron::parse(row.schedule);
    ASSERT_TRUE(cron) << row.schedule << ": " << cron.error().text();
    EXPECT_EQ(cron->last(row.now, 366 * 4), row.last) << row.schedule;
  }
  EXPECT_FALSE(Cron::parse("0 0 31 2 *")->last(at(2026, 11, 22), 366 * 4)) << "February 31 does not exist";
  EXPECT_FALSE(Cron::parse("@yearly")->last(at(2026, 11, 22), 7)) << "the last time is more than a week ago";
}

TEST(Cron, AnErrorNamesTheField) {
  struct Row {
    const char* schedule;
    const char* error;
  };
  const Row rows[] = {
      {"", "schedule \"\" has 0 fields"},
      {"0 8 * *", "has 4 fields, expected minute"},
      {"0 8 * * * *", "has 6 fields"},
      {"60 8 * * *", "minute is \"60\", expected 0 to 59"},
      {"0 8-6 * * *", "hour is \"8-6\""},
      {"0 8 0 * *", "day of the month is \"0\", expected 1 to 31"},
      {"0 8 * 13 *", "month is \"13\""},
      {"0 8 * * 1,,2", "day of the week is \"1,,2\""},
      {"*/0 8 * * *", "minute is \"*/0\""},
      {"1/2/3 8 * * *", "minute is \"1/2/3\""},
      {"1-2-3 8 * * *", "minute is \"1-2-3\""},
      {"-5 8 * * *", "minute is \"-5\""},
      {"0 8 * * someday", "day of the week is \"someday\""},
      {"@often", "has 1 fields"},
  };
  for (const Row& row : rows) {
    const Result<Cron> cron = Cron::parse(row.schedule);
    ASSERT_FALSE(cron) << row.schedule;
    EXPECT_NE(cron.error().text().find(row.error), std::string::npos) << cron.error().text();
  }
}

RC_GTEST_PROP(Cron, NoTimeLiesBetweenTheLastOneAndNow, ()) {
  const auto minute = *rc::gen::inRange(0, 60), hour = *rc::gen::inRange(0, 24), step = *rc::gen::inRange(1, 30);
  const std::string text =
      std::to_string(minute) + "/" + std::to_string(step) + " " + std::to_string(hour) + "-23 * * *";
  const Cron cron = *Cron::parse(text);
  const Instant now{std::chrono::minutes(*rc::gen::inRange(24 * 60, 60'000'000))};
  const Instant last = *cron.last(now, 2);
  RC_ASSERT(last <= now);
  RC_ASSERT(cron.last(last, 0) == last);
  const std::optional<Instant> next = cron.next(now, 2);
  RC_ASSERT((next && *next > now));
  RC_ASSERT(cron.last(*next, 2) == next);
  RC_ASSERT(cron.last(*next - Duration{1}, 4) == last);
  for (Instant between = last + 1min; between <= now; between = between + 1min) {
    RC_ASSERT(*cron.last(between, 2) == last);
  }
}

}  // namespace
}  // namespace capstan
