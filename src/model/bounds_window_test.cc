#include "model/bounds_window.h"

#include <gtest/gtest.h>

namespace capstan::model {
namespace {

using namespace std::chrono_literals;

BoundsWindow window(const char* start, Duration duration, std::optional<ReplicaCount> min,
                    std::optional<ReplicaCount> max) {
  return {*Cron::parse(start), duration, min, max};
}

// The epoch, moment 0, is the beginning of a Thursday.
constexpr Instant on_thursday(Duration time) { return {time}; }

TEST(BoundsWindow, MinimumsAndMaximumsApplyDuringTheirWindows) {
  const std::vector<BoundsWindow> windows = {window("0 8 * * *", 10h, 6, std::nullopt),
                                             window("0 22 * * *", 8h, std::nullopt, 3)};
  struct Row {
    Duration time;
    Duration ahead;
    Bounds bounds;
  };
  const Row rows[] = {
      {48h + 7h + 59min, 0s, {1, 20}},
      {48h + 8h, 0s, {6, 20}},
      {48h + 17h + 59min, 0s, {6, 20}},
      {48h + 18h, 0s, {1, 20}},
      {48h + 21h, 0s, {1, 20}},
      {48h + 23h, 0s, {1, 3}},
      {48h + 29h, 0s, {1, 3}},  // past midnight
      {48h + 30h, 0s, {1, 20}},
      {48h + 7h + 55min, 5min, {6, 20}},  // the minimum applies 5 min before its window
      {48h + 7h + 54min, 5min, {1, 20}},
      {48h + 21h + 59min, 5min, {1, 20}},  // no maximum applies before its window
  };
  for (const Row& row : rows) {
    EXPECT_EQ(bounds_at({1, 20}, windows, on_thursday(row.time), row.ahead), row.bounds) << row.time.count();
  }
}

TEST(BoundsWindow, WindowsOnlyTightenAndAMaximumWinsOverAMinimum) {
  const auto at_noon = [](Bounds base, std::vector<BoundsWindow> windows) {
    return bounds_at(base, windows, on_thursday(12h), 0s);
  };
  EXPECT_EQ(at_noon({4, 8}, {window("@daily", 24h, 2, 100)}), (Bounds{4, 8}));
  EXPECT_EQ(at_noon({1, 8}, {window("@daily", 24h, 6, std::nullopt), window("@daily", 24h, std::nullopt, 4)}),
            (Bounds{4, 4}));
  EXPECT_EQ(at_noon({1, 8}, {window("@daily", 24h, 100, std::nullopt)}), (Bounds{8, 8}));
  EXPECT_EQ(at_noon({1, 8}, {window("0 11 * * 5", 2h, 5, std::nullopt)}), (Bounds{1, 8})) << "not on a Thursday";
  EXPECT_EQ(at_noon({1, 8}, {window("0 0 * * 3", 37h, 5, std::nullopt)}), (Bounds{5, 8})) << "since Wednesday";
}

}  // namespace
}  // namespace capstan::model
