#include "plan/measure/rate_series.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

namespace capstan::plan {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kRatesStart = 1'700'000'000'000;
constexpr double kMissingRate = std::numeric_limits<double>::quiet_NaN();

/// Returns the rates of an answer with one point a minute from `kRatesStart`. A rate that is not a number has a point
/// in the answer; the first `left_out` rates have none.
std::expected<RateSeries, std::string> read_rates(const std::vector<double>& values, std::size_t left_out = 0) {
  signals::ApiAnswer answer;
  answer.kind = signals::ApiAnswer::Kind::matrix;
  answer.series.emplace_back();
  for (std::size_t i = left_out; i < values.size(); ++i) {
    answer.series[0].points.push_back({kRatesStart + static_cast<std::int64_t>(i) * 60'000, values[i]});
  }
  return rate_series(answer, kRatesStart, kRatesStart + (static_cast<std::int64_t>(values.size()) - 1) * 60'000, 1min);
}

RateSeries rates_of(std::vector<double> per_s, Duration step) {
  return {.start_ms = kRatesStart, .step = step, .per_s = std::move(per_s), .gaps = 0};
}

TEST(RateSeries, TakesTheRateOfEachStep) {
  const auto rates = read_rates(std::vector<double>(20, 0.5));
  ASSERT_TRUE(rates) << rates.error();
  EXPECT_EQ(rates->start_ms, kRatesStart - 60'000);  // the first point is the rate of the minute before it
  EXPECT_EQ(rates->length(), 20min);
  EXPECT_EQ(rates->requests(), 600);
  EXPECT_EQ(rates->gaps, 0);
}

TEST(RateSeries, FillsGapsBetweenTheirNeighbours) {
  std::vector<double> values(20, 1.0);
  values[5] = kMissingRate;
  values[6] = -1;
  values[7] = 4;
  values[19] = std::numeric_limits<double>::infinity();
  const auto rates = read_rates(values);
  ASSERT_TRUE(rates) << rates.error();
  EXPECT_EQ(rates->gaps, 3);
  EXPECT_EQ(rates->per_s[5], 2);
  EXPECT_EQ(rates->per_s[6], 3);
  EXPECT_EQ(rates->per_s[19], 1);  // no later neighbour: the value before it
}

TEST(RateSeries, BeginsWithTheFirstPoint) {
  const auto rates = read_rates(std::vector<double>(40, 1.0), 25);
  ASSERT_TRUE(rates) << rates.error();
  EXPECT_EQ(rates->length(), 15min);
  EXPECT_EQ(rates->gaps, 0);
  EXPECT_EQ(rates->start_ms, kRatesStart + 24 * 60'000);
}

TEST(RateSeries, ReportsFaults) {
  EXPECT_NE(read_rates({}).error().find("no points"), std::string::npos);
  EXPECT_NE(read_rates(std::vector<double>(9, 1.0)).error().find("9 steps of 1m, expected at least 10"),
            std::string::npos);
  EXPECT_NE(read_rates(std::vector<double>(20, 0.0)).error().find("no request finished in 20m"), std::string::npos);
  std::vector<double> sparse(20, 1.0);
  for (std::size_t i = 5; i < 10; ++i) sparse[i] = kMissingRate;
  EXPECT_NE(read_rates(sparse).error().find("5 of 20 steps have no value"), std::string::npos);
}

TEST(RateSeries, FindsTheBusiestPart) {
  RateSeries part = busiest_part(rates_of({1, 1, 5, 6, 1, 1}, 1min), 2min);
  EXPECT_EQ(part.per_s, (std::vector<double>{5, 6}));
  EXPECT_EQ(part.start_ms, kRatesStart + 120'000);
  EXPECT_EQ(busiest_part(rates_of({1, 1, 1}, 1min), 2min).start_ms, kRatesStart);  // the first of two equal parts
  EXPECT_EQ(busiest_part(rates_of({1, 2}, 1min), 1h).per_s.size(), 2u);
}

TEST(RateSeries, CountsWholeRequestsByMinute) {
  EXPECT_EQ(requests_by_minute(rates_of({0.5, 1}, 1min)), (std::vector<std::int64_t>{30, 60}));
  EXPECT_EQ(requests_by_minute(rates_of({1.0 / 120, 1.0 / 120, 1.0 / 120, 1.0 / 120}, 1min)),
            (std::vector<std::int64_t>{1, 0, 1, 0}));                                              // 0.5 requests/min
  EXPECT_EQ(requests_by_minute(rates_of({1, 2}, 90s)), (std::vector<std::int64_t>{60, 90, 120}));  // 3 minutes
  EXPECT_EQ(requests_by_minute(rates_of({1, 1, 1}, 15s)), (std::vector<std::int64_t>{45}));        // 45 s of a minute
  EXPECT_EQ(requests_by_minute(rates_of({1, 1, 1, 1, 2}, 15s)), (std::vector<std::int64_t>{60, 30}));
}

RC_GTEST_PROP(RateSeries, LosesNoRequestByRounding, ()) {
  const auto milli = *rc::gen::nonEmpty(rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 50'000)));
  std::vector<double> per_s;
  for (const int rate : milli) per_s.push_back(rate / 1000.0);
  const RateSeries series = rates_of(per_s, std::chrono::seconds(*rc::gen::inRange(5, 600)));
  const std::vector<std::int64_t> minutes = requests_by_minute(series);
  const auto all = std::accumulate(minutes.begin(), minutes.end(), std::int64_t{0});
  RC_ASSERT(std::abs(static_cast<double>(all) - series.requests()) <= 0.51);
  RC_ASSERT(static_cast<std::int64_t>(minutes.size()) == (series.length() + 1min - 1ns) / 1min);
  for (const std::int64_t count : minutes) RC_ASSERT(count >= 0);
}

}  // namespace
}  // namespace capstan::plan
