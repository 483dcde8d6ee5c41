#include "peers/formula/ray_serve.h"

#include <gtest/gtest.h>

namespace capstan::peers::ray_serve {
namespace {

Instant at(std::int64_t milliseconds) { return {std::chrono::milliseconds(milliseconds)}; }

TEST(RayServe, TheOrderOfTheDoublesMatters) {
  Config config;
  config.target_ongoing_requests = 1;
  EXPECT_EQ(apply_factor(wanted(29, 7, config), 7, config), 30) << "29 requests at one per replica";
  EXPECT_EQ(apply_factor(wanted(28, 7, config), 7, config), 28);
}

TEST(RayServe, Factors) {
  struct Row {
    double wanted;
    ReplicaCount current;
    double up, down;
    ReplicaCount scaled;
  };
  for (const Row& row : {Row{20, 10, 1, 1, 20}, Row{3.5, 0, 10, 10, 4}, Row{20, 10, 0.5, 1, 15},
                         Row{20, 10, 1.5, 1, 25}, Row{5, 20, 1, 0.5, 13}, Row{9, 10, 1, 0.5, 9},
                         Row{9.5, 10, 1, 0.5, 10}, Row{10, 10, 3, 3, 10}, Row{0, 5, 1, 10, -45}}) {
    Config config;
    config.upscaling_factor = row.up;
    config.downscaling_factor = row.down;
    EXPECT_EQ(apply_factor(row.wanted, row.current, config), row.scaled) << row.wanted << " of " << row.current;
  }
}

TEST(RayServe, AChangeMustPersistForItsDelay) {
  Config config;
  config.upscale_delay = std::chrono::milliseconds(300);
  State state;
  EXPECT_EQ(apply_delay(5, 1, config, state, at(1000)), 1);
  EXPECT_EQ(apply_delay(5, 1, config, state, at(1200)), 1);
  EXPECT_EQ(state.counter, 2);
  EXPECT_EQ(apply_delay(1, 1, config, state, at(1250)), 1) << "an interruption restarts the delay";
  EXPECT_EQ(apply_delay(5, 1, config, state, at(1300)), 1);
  EXPECT_EQ(apply_delay(5, 1, config, state, at(1600)), 5) << "exactly the delay";
  EXPECT_EQ(state.counter, 0);
  EXPECT_EQ(apply_delay(3, 5, config, state, at(1700)), 5) << "the delay down is 600 s";
  EXPECT_EQ(state.counter, -1);
  EXPECT_EQ(apply_delay(3, 5, config, state, at(601'700)), 3);
}

TEST(RayServe, ACounterWithoutItsTimeIsKept) {
  Config config;
  State state{5, std::nullopt};
  EXPECT_EQ(apply_delay(5, 1, config, state, at(1000)), 1);
  EXPECT_EQ(state.counter, 6);
  EXPECT_EQ(state.since, at(1000));
}

TEST(RayServe, GoesToZeroOnlyFromOne) {
  Config config;
  config.downscale_delay = {};
  config.downscale_to_zero_delay = std::chrono::seconds(1);
  State state;
  EXPECT_EQ(apply_delay(-4, 4, config, state, at(0)), 1);
  EXPECT_EQ(apply_delay(-4, 1, config, state, at(100)), 1);
  EXPECT_EQ(apply_delay(-4, 1, config, state, at(1100)), 0);
  config.downscale_to_zero_delay.reset();
  EXPECT_EQ(apply_delay(0, 1, config, state, at(1200)), 0) << "without it, the ordinary downscale delay applies";
}

TEST(RayServe, ScalesFromZeroImmediately) {
  State state;
  Config config;
  config.upscaling_factor = 2.5;
  EXPECT_EQ(decide({1, {}, 0, 0}, config, state, at(0)), 3);
  EXPECT_EQ(decide({1, {}, 0, 7}, config, state, at(0)), 7);
  EXPECT_EQ(decide({0, {}, 0, 2}, config, state, at(0)), 2) << "starting replicas are kept";
  EXPECT_EQ(decide({0, 4.0, 0, 2}, config, state, at(0)), 4) << "a user's policy, without the factor";
  EXPECT_EQ(decide({0, 0.0, 0, 2}, config, state, at(0)), 2) << "a scale-down waits";
  EXPECT_EQ(state.counter, -1);
  config.upscale_delay = {};
  EXPECT_EQ(decide({100, {}, 1, 1}, config, state, at(0)), 124);
  EXPECT_EQ(decide({100, 3.0, 1, 1}, config, state, at(0)), 6) << "a user's policy";
}

TEST(RayServe, Gangs) {
  EXPECT_EQ(round_to_gangs(5, 4, {}, {}), 8);
  EXPECT_EQ(round_to_gangs(0, 4, {}, {}), 0);
  EXPECT_EQ(round_to_gangs(1, 4, 8, 16), 8);
  EXPECT_EQ(round_to_gangs(17, 4, 8, 16), 16);
  EXPECT_EQ(round_to_gangs(5, 4, 8, 6), 8) << "the minimum takes precedence";
}

TEST(RayServe, TheMeanBeginsWhenEveryHandleHasReported) {
  const auto at = [](int seconds) { return Instant{std::chrono::seconds(seconds)}; };
  const std::vector<Point> one = {{at(0), 10}, {at(10), 20}}, late = {{at(5), 4}};
  // From 5 s on the sum is 14 for five seconds, then 24 for ten.
  EXPECT_DOUBLE_EQ(merged_average({one, late}, at(0), at(20)).value(), (14.0 * 5 + 24.0 * 10) / 15);
  EXPECT_DOUBLE_EQ(merged_average({one, {}}, at(0), at(20)).value(), 15);
  EXPECT_DOUBLE_EQ(merged_average({one}, at(12), at(20)).value(), 20) << "the value before the period holds into it";
  EXPECT_EQ(merged_average({{}, {}}, at(0), at(20)), std::nullopt);
}

using Steps = std::vector<std::pair<std::int64_t, double>>;

Steps steps_of(const std::vector<Point>& points) {
  Steps steps;
  for (const Point& point : points) {
    steps.emplace_back(std::chrono::duration_cast<std::chrono::milliseconds>(point.at.since_start).count(),
                       point.value);
  }
  return steps;
}

TEST(RayServe, SeriesAreMergedByTime) {
  const std::vector<Point> one = {{at(200), 5}, {at(800), 7}, {at(1500), 6}};
  const std::vector<Point> other = {{at(100), 3}, {at(900), 4}, {at(1400), 8}};
  EXPECT_EQ(steps_of(merged_total({one, other})),
            (Steps{{100, 3}, {200, 8}, {800, 10}, {900, 11}, {1400, 15}, {1500, 14}}));
  EXPECT_EQ(steps_of(merged_total({{}, {{at(3), 0}, {at(7), 0}}})), (Steps{{3, 0}, {7, 0}}))
      << "a single series is unchanged";
  EXPECT_EQ(steps_of(merged_total({{{at(0), 0}, {at(14), 2}}, {{at(8), 1}, {at(500), 1}}})), (Steps{{10, 3}}))
      << "on a grid of 10 ms, without steps that change nothing";
  EXPECT_EQ(steps_of(merged_total({{}, {}})), Steps());
}

TEST(RayServe, TheTimeAverageHoldsItsSteps) {
  const std::vector<Point> steps = {{at(1000), 4}, {at(3000), 10}};
  EXPECT_DOUBLE_EQ(time_average(steps, at(1000), at(4000)).value(), 6);
  EXPECT_DOUBLE_EQ(time_average(steps, at(2000), at(3000)).value(), 4) << "the value before the period holds into it";
  EXPECT_DOUBLE_EQ(time_average(steps, at(0), at(2000)).value(), 2) << "0 before the first step";
  EXPECT_EQ(time_average(steps, at(2000), at(2000)), std::nullopt);
}

TEST(RayServe, AHandleThatReportsAfterTheLastStepDoesNotDelayTheMean) {
  const std::vector<std::vector<Point>> series = {{{at(0), 4}, {at(1000), 10}}, {{at(2000), 0}}};
  EXPECT_EQ(complete_from(series, merged_total(series)), at(0));
  EXPECT_DOUBLE_EQ(merged_average(series, at(0), at(3000)).value(), 8);
  EXPECT_EQ(merged_average({{{at(0), 0}}, {{at(0), 0}}}, at(0), at(1000)), 0) << "all handles are idle";
}

}  // namespace
}  // namespace capstan::peers::ray_serve
