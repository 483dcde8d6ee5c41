#include "plan/measure/token_lengths.h"

#include <gtest/gtest.h>

#include <cmath>

namespace capstan::plan {
namespace {

signals::ApiAnswer vector_of(const std::vector<std::pair<std::string, double>>& rows) {
  signals::ApiAnswer answer;
  for (const auto& [le, value] : rows) {
    signals::ApiSeries series;
    if (!le.empty()) series.labels = {{"le", le}};
    series.points = {{0, value}};
    answer.series.push_back(std::move(series));
  }
  return answer;
}

double share_sum(const LengthRanges& ranges) {
  double sum = 0;
  for (const LengthRange& range : ranges) sum += range.share;
  return sum;
}

TEST(TokenLengths, ReadTheBucketsOfAHistogram) {
  const auto ranges = ranges_of_histogram(vector_of({{"100.0", 20}, {"10", 0}, {"1000", 80}, {"+Inf", 100}}),
                                          vector_of({{"", 100 * 560.0}}));
  ASSERT_TRUE(ranges) << ranges.error();
  ASSERT_EQ(ranges->size(), 3u);  // the empty bucket is left out
  EXPECT_EQ((*ranges)[0].low, 11);
  EXPECT_EQ((*ranges)[0].high, 100);
  EXPECT_EQ((*ranges)[2].low, 1001);
  EXPECT_EQ((*ranges)[2].high, 2002);  // the last bucket has no upper bound: twice its lower end
  EXPECT_DOUBLE_EQ((*ranges)[1].share, 0.6);
  EXPECT_NEAR(mean_length(*ranges), 560, 1e-6);
  EXPECT_EQ(length_quantile(*ranges, 0.5), 551);  // half of the bucket from 101 to 1,000
  EXPECT_EQ(length_quantile(*ranges, 0.99), 1952);
}

TEST(TokenLengths, UseTheMiddleWithoutASum) {
  const auto ranges = ranges_of_histogram(vector_of({{"99", 10}, {"+Inf", 10}}), {});
  ASSERT_TRUE(ranges) << ranges.error();
  EXPECT_EQ(mean_length(*ranges), 50);
}

TEST(TokenLengths, AcceptAMeanSlightlyOutsideTheBuckets) {
  const auto ranges = ranges_of_histogram(vector_of({{"99", 10}, {"+Inf", 10}}), vector_of({{"", 1'100}}));
  ASSERT_TRUE(ranges) << ranges.error();
  EXPECT_EQ(mean_length(*ranges), 99);
}

TEST(TokenLengths, RefuseASumInAnotherUnitThanTheBuckets) {
  const auto ranges = ranges_of_histogram(vector_of({{"99", 10}, {"+Inf", 10}}), vector_of({{"", 5'000'000}}));
  ASSERT_FALSE(ranges);
  EXPECT_EQ(ranges.error(),
            "the sum says 5e+05 tokens on the mean, the buckets 1 to 99, expected the same unit in both");
  EXPECT_FALSE(ranges_of_histogram(vector_of({{"1000", 0}, {"2000", 10}, {"+Inf", 10}}), vector_of({{"", 15}})));
}

TEST(TokenLengths, RefuseAHistogramWithoutRequests) {
  EXPECT_NE(ranges_of_histogram(vector_of({{"10", 5}}), {}).error().find("+Inf"), std::string::npos);
  EXPECT_NE(ranges_of_histogram({}, {}).error().find("+Inf"), std::string::npos);
  EXPECT_NE(ranges_of_histogram(vector_of({{"+Inf", 0}}), {}).error().find("counts no request"), std::string::npos);
}

TEST(TokenLengths, AcceptBucketsThatFall) {
  const auto ranges = ranges_of_histogram(vector_of({{"10", 50.2}, {"100", 50.1}, {"+Inf", 50.1}}), {});
  ASSERT_TRUE(ranges) << ranges.error();
  EXPECT_EQ(ranges->size(), 1u);
  EXPECT_DOUBLE_EQ(share_sum(*ranges), 1);
}

TEST(TokenLengths, FollowALogNormalDistribution) {
  const LengthRanges ranges = ranges_of({.median = 1000, .sigma = 0.8, .longest = 16384});
  EXPECT_NEAR(share_sum(ranges), 1, 1e-12);
  EXPECT_NEAR(length_quantile(ranges, 0.5), 1000, 30);
  EXPECT_NEAR(length_quantile(ranges, 0.9), 1000 * std::exp(0.8 * 1.2816), 100);
  EXPECT_NEAR(mean_length(ranges), 1000 * std::exp(0.32), 50);
  EXPECT_EQ(ranges.back().high, 16384);
  const LengthRanges same = ranges_of({.median = 7, .sigma = 0, .longest = 7});
  ASSERT_EQ(same.size(), 1u);
  EXPECT_EQ(same.front().high, 7);
  const LengthRanges cut = ranges_of({.median = 1000, .sigma = 0.8, .longest = 1200});
  EXPECT_NEAR(share_sum(cut), 1, 1e-12);
  EXPECT_EQ(cut.back().high, 1200);
}

}  // namespace
}  // namespace capstan::plan
