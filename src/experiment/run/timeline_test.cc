#include "experiment/run/timeline.h"

#include <gtest/gtest.h>

#include <numeric>

#include "experiment/compare.h"
#include "experiment/report/sparklines.h"
#include "experiment/run/prepare.h"

namespace capstan::experiment {
namespace {

using namespace std::chrono_literals;

RunResult minutes_of(std::size_t count) {
  RunResult result;
  result.policy = "a";
  for (std::size_t i = 0; i < count; ++i) {
    const auto number = static_cast<RequestCount>(i);
    result.minutes.push_back({.arrived = 10 + number, .completed = 8, .met = 5, .ready = 2});
  }
  return result;
}

TEST(Timeline, HasAtMostSixtyBucketsOfWholeMinutes) {
  const struct {
    std::size_t minutes;
    Duration bucket;
    std::size_t buckets;
  } rows[] = {{0, 1min, 0}, {1, 1min, 1}, {60, 1min, 60}, {61, 2min, 31}, {14 * 24 * 60, 336min, 60}};
  for (const auto& row : rows) {
    const std::vector<RunResult> results = {minutes_of(row.minutes)};
    EXPECT_EQ(bucket_length(results), row.bucket) << row.minutes;
    EXPECT_EQ(timeline(results.front(), row.bucket).size(), row.buckets) << row.minutes;
  }
}

TEST(Timeline, TheLongestRunChoosesTheLengthForAll) {
  const std::vector<RunResult> results = {minutes_of(59), minutes_of(130)};
  EXPECT_EQ(bucket_length(results), 3min);
}

TEST(Timeline, ABucketSumsRequestsAndAveragesReplicas) {
  RunResult result = minutes_of(3);
  result.minutes[1].ready = 5;
  const std::vector<TimelineBucket> buckets = timeline(result, 2min);
  ASSERT_EQ(buckets.size(), 2u);
  EXPECT_EQ(buckets[0].arrived, 21);
  EXPECT_EQ(buckets[0].late, 6);
  EXPECT_EQ(buckets[0].unmet, 5);
  EXPECT_EQ(buckets[0].ready_mean_milli, 3500);
  EXPECT_EQ(buckets[1].arrived, 12) << "the last bucket is shorter";
  EXPECT_EQ(buckets[1].ready_mean_milli, 2000);
}

constexpr const char* kOverloaded = R"(name: overloaded
load:
  generator: {rate: {kind: on_off, rate: 2, peak: 90, period: 5m, length: 1m}, input: 900, output: 120}
  duration: 9m
service:
  model: Llama-3.1-8B
  gpu: H100
  slo: {ttft: 1s, tpot: 50ms}
  replicas: {min: 1, max: 1}
  client: {first_token_timeout: 5s}
  engine_settings: {max_waiting: 20}
cluster:
  existing: [{instance: p5.4xlarge}]
policies: [{name: one, scale: {policy: fixed, replicas: 1}, place: gang, provision: none}]
)";

TEST(Timeline, BucketsOfARunAddUpToItsRequests) {
  const scenario::ScenarioResult scenario = scenario::parse_scenario(kOverloaded, "s.yaml");
  ASSERT_TRUE(scenario) << scenario.error().text();
  const Result<RunResult> result = run(*scenario, scenario->policies.front(), 1);
  ASSERT_TRUE(result);
  ASSERT_GT(result->requests.late(), 0);
  ASSERT_GT(result->requests.unmet(), 0);
  for (const Duration bucket : {1min, 2min, 4min}) {
    TimelineBucket sum;
    for (const TimelineBucket& slice : timeline(*result, bucket)) {
      sum.arrived += slice.arrived;
      sum.late += slice.late;
      sum.unmet += slice.unmet;
    }
    EXPECT_EQ(sum.arrived, result->requests.arrived);
    EXPECT_EQ(sum.late, result->requests.late());
    EXPECT_EQ(sum.unmet, result->requests.arrived - result->requests.completed);
  }
}

TEST(Sparklines, TheHeightOfABarIsItsShareOfTheMaximum) {
  const std::vector<std::int64_t> numbers = {0, 1, 4, 5, 8, 16};
  EXPECT_EQ(spark_bars(numbers, 16), " ▁▂▃▄█");
  EXPECT_EQ(spark_bars(numbers, 0), "      ");
  EXPECT_EQ(spark_bars(std::vector<std::int64_t>{8, 0}, 8, 3), "███   ");
}

TEST(Sparklines, PoliciesShareOneScaleAndOneIsMarked) {
  Comparison c;
  c.slo.attainment_ppm = 500'000;
  c.results = {minutes_of(20), minutes_of(20)};
  c.results[0].requests = {.arrived = 10, .completed = 10, .met = 10};
  c.results[1].requests = {.arrived = 10, .completed = 10, .met = 1};
  c.results[1].policy = "b";
  for (Minute& minute : c.results[0].minutes) minute.completed = minute.met = minute.arrived;
  for (Minute& minute : c.results[1].minutes) minute.ready = 4;
  const auto repeated = [](const char* bar) {
    std::string text;
    for (int i = 0; i < 60; ++i) text += bar;
    return text;
  };
  const std::string text = sparklines(c, 12, 120);
  EXPECT_NE(text.find("▶ a             ready   " + repeated("▄") + "  at most 2.0\n"), text.npos) << text;
  EXPECT_NE(text.find("                missed  " + repeated(" ") + "  none\n"), text.npos) << text;
  EXPECT_NE(text.find("  b             ready   " + repeated("█") + "  at most 4.0\n"), text.npos) << text;
  c.results.resize(1);
  c.results[0].minutes.clear();
  EXPECT_EQ(sparklines(c, 12, 120), "") << "nothing arrived";
}

}  // namespace
}  // namespace capstan::experiment
