#include "plan/pods/cold_start.h"

#include <gtest/gtest.h>

namespace capstan::plan {
namespace {

using namespace std::chrono_literals;

TEST(ColdStart, IsTheSumOfItsPhasesAndNamesTheLongest) {
  const std::vector<StartPhase> phases = {
      {StartStep::node, 55s, 60s}, {StartStep::image_pull, 150s, 300s}, {StartStep::engine_start, 110s, 160s}};
  const ColdStart start = cold_start_sum(phases);
  EXPECT_EQ(start.typical, 315s);
  EXPECT_EQ(start.longest, 520s);
  EXPECT_EQ(start.longest_without_node, 460s);
  EXPECT_EQ(start.dominant, StartStep::image_pull);
  EXPECT_EQ(start.dominant_typical, 150s);
  EXPECT_EQ(phases_words(phases), "node 55 s + image pull 2 min 30 s + engine start 1 min 50 s");
}

struct WindowRow {
  Duration longest;
  std::int64_t window_s;
};

TEST(ColdStart, GivesTheWindowForScalingDown) {
  const WindowRow rows[] = {{0s, 600}, {60s, 600}, {400s, 800}, {2h, 3600}};
  for (const WindowRow& row : rows) EXPECT_EQ(scale_down_window_s({.longest = row.longest}), row.window_s);
}

}  // namespace
}  // namespace capstan::plan
