#include "experiment/text/moment.h"

#include <gtest/gtest.h>

namespace capstan::experiment {
namespace {

using namespace std::chrono_literals;

constexpr Instant kRun{17min + 20s};
/// 2026-11-26 02:14:05.250 UTC
constexpr Instant kNight{1'795'659'245s + 250ms};

TEST(Moment, IsAClockOfASimulationAndADateOfAController) {
  EXPECT_EQ(moment_words(kRun), "00:17:20");
  EXPECT_EQ(moment_words(kNight), "2026-11-26 02:14:05 UTC");
  EXPECT_EQ(moment_argument(kRun), "1040s");
  EXPECT_EQ(moment_argument(Instant{1500ms}), "1500ms");
  EXPECT_EQ(moment_argument(kNight), "2026-11-26T02:14:05.250Z");
}

TEST(Moment, OfAControllerIsReadFromADurationATimeOrADate) {
  EXPECT_EQ(*read_recorded_moment("5m", kNight), kNight + 5min);
  EXPECT_EQ(*read_recorded_moment("0", kNight), kNight);
  EXPECT_EQ(*read_recorded_moment("02:14:05", kNight), kNight - 250ms) << "the second of the first state";
  EXPECT_EQ(*read_recorded_moment("03:00", kNight), kNight - 250ms + 45min + 55s);
  EXPECT_EQ(*read_recorded_moment("02:14", kNight), kNight - 5s - 250ms) << "the minute of the first state";
  EXPECT_EQ(*read_recorded_moment("02:13", kNight), kNight - 65s - 250ms + 24h) << "the next day";
  for (const char* text : {"2026-11-26T02:14:05.250Z", "2026-11-26 02:14:05.25 UTC"}) {
    EXPECT_EQ(*read_recorded_moment(text, kNight), kNight) << text;
  }
  EXPECT_EQ(*read_recorded_moment(moment_argument(kNight), kNight), kNight);
}

TEST(Moment, OfASimulationIsReadFromADurationOrItsClock) {
  EXPECT_EQ(*read_recorded_moment("17m20s", Instant{15s}), kRun);
  EXPECT_EQ(*read_recorded_moment("00:17:20", Instant{15s}), kRun);
  EXPECT_EQ(*read_recorded_moment(moment_words(kRun), Instant{}), kRun) << "compare prints such moments";
  EXPECT_EQ(*read_recorded_moment("00:17", Instant{}), Instant{17min}) << "hours and minutes, as in a recording";
  EXPECT_FALSE(read_recorded_moment("2026-11-26T02:14:05Z", Instant{15s}));
  EXPECT_EQ(read_recorded_moment("33", Instant{}).error().message,
            "\"33\", expected a duration since the start such as 33m, or a time such as 00:33:00");
}

TEST(Moment, AnythingElseIsAUsageError) {
  for (const char* text : {"", "33", "-5m", "25:00", "02:60", "02:14:61", "2026-02-30T00:00:00Z", "2026-11-26",
                           "2026-11-26T02:14:05+01:00", "2026-11-26T24:00:00Z", "02:14:05.", "night"}) {
    const Result<Instant> at = read_recorded_moment(text, kNight);
    ASSERT_FALSE(at) << text;
    EXPECT_EQ(at.error().kind, ErrorKind::usage);
  }
  EXPECT_EQ(read_recorded_moment("33", kNight).error().message,
            "\"33\", expected a duration since the start such as 33m, or a time such as 2026-11-26T02:14:05.250Z");
}

}  // namespace
}  // namespace capstan::experiment
