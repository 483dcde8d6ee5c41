#include "promql/range_function.h"

#include <gtest/gtest.h>

#include <cmath>

#include "promql/kahan.h"

namespace capstan::promql {
namespace {

double call(std::string_view name, const std::vector<Point>& points, RangeContext context = {0, 60'000, 60'000, 0}) {
  return find_range_function(name)(points, context).value_or(std::nan(""));
}

TEST(PromqlRange, ExtrapolatesRatesToTheEndsOfTheRange) {
  const std::vector<Point> counter = {{15'000, 100}, {30'000, 130}, {45'000, 160}};
  EXPECT_DOUBLE_EQ(call("increase", counter), 120);
  EXPECT_DOUBLE_EQ(call("rate", counter), 2);
  EXPECT_DOUBLE_EQ(call("irate", counter), 2);
  EXPECT_DOUBLE_EQ(call("increase", {{15'000, 0}, {30'000, 30}, {45'000, 60}}), 90)
      << "a counter does not start below 0";
  EXPECT_TRUE(std::isnan(call("rate", {{15'000, 1}})));
}

TEST(PromqlRange, FitsAndExtendsLines) {
  const std::vector<Point> line = {{0, 1}, {10'000, 3}, {20'000, 5}};
  EXPECT_DOUBLE_EQ(call("deriv", line), 0.2);
  EXPECT_DOUBLE_EQ(call("predict_linear", line, {0, 60'000, 20'000, 10}), 7);
}

TEST(PromqlRange, InterpolatesQuantiles) {
  EXPECT_EQ(quantile_of(0.5, {3, 1, 2}), 2);
  EXPECT_EQ(quantile_of(0.25, {1, 2, 3, 4}), 1.75);
  EXPECT_EQ(quantile_of(2, {1}), std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(quantile_of(0.5, {})));
}

TEST(PromqlRange, SumsKeepSmallTerms) {
  KahanSum sum;
  for (const double term : {1.0, 1e100, 1.0, -1e100}) sum.add(term);
  EXPECT_EQ(sum.total(), 2);
}

}  // namespace
}  // namespace capstan::promql
