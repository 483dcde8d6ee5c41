#include "kube/wall_time.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace capstan::kube {
namespace {

struct Row {
  std::string_view text;
  std::int64_t unix_us;
};

constexpr Row kRows[] = {
    {"1970-01-01T00:00:01Z", 1'000'000},
    {"2026-11-21T16:15:33Z", 1'795'277'733'000'000},
    {"2026-11-21T16:15:33.25Z", 1'795'277'733'250'000},
    {"2026-11-21T16:15:33.123456789Z", 1'795'277'733'123'456},
    {"2026-11-21T17:15:33+01:00", 1'795'277'733'000'000},
    {"1969-12-31T23:59:59.5Z", -500'000},
};

TEST(WallTime, ReadsRfc3339) {
  for (const Row& row : kRows) EXPECT_EQ(read_wall_time(row.text), WallTime{row.unix_us}) << row.text;
}

TEST(WallTime, RefusesInvalidTimes) {
  for (const std::string_view text :
       {"", "2026-11-21", "2026-02-30T00:00:00Z", "2026-11-21T24:00:00Z", "2026-11-21T16:15:33",
        "2026-11-21T16:15:33.Z", "2026-11-21T16:15:33Zx", "0000-01-01T00:00:00Z"}) {
    EXPECT_EQ(read_wall_time(text), std::nullopt) << text;
  }
}

RC_GTEST_PROP(WallTime, ReadingReversesWriting, ()) {
  const WallTime time{*rc::gen::inRange<std::int64_t>(-2'000'000'000'000'000, 4'000'000'000'000'000)};
  RC_ASSERT(read_wall_time(wall_time_micros(time)) == time);
  const WallTime whole{time.unix_us / 1'000'000 * 1'000'000};
  RC_ASSERT(read_wall_time(wall_time_seconds(whole)) == whole);
}

}  // namespace
}  // namespace capstan::kube
