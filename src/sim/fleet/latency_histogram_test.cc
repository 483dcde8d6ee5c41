#include "sim/fleet/latency_histogram.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "sim/fleet/latency_buckets.h"

namespace capstan::sim {
namespace {

constexpr Duration us(std::int64_t n) { return Duration{n * 1000}; }

struct PercentileRow {
  const char* teaches;
  std::vector<std::int64_t> values_us;
  std::int64_t ppm;
  std::int64_t expected_us;
};

TEST(LatencyHistogram, ReturnsThePercentile) {
  const PercentileRow rows[] = {
      {"an empty histogram returns 0", {}, 500'000, 0},
      {"a single value is every percentile", {7}, 10'000, 7},
      {"the median of an even count is the lower of the two middle values", {1, 2, 3, 4}, 500'000, 2},
      {"p99 of equal values is that value", {100, 100, 100}, 990'000, 100},
      {"p100 is the longest value", {1, 250}, 1'000'000, 250},
      {"a negative duration counts as 0", {-5}, 500'000, 0},
  };
  for (const PercentileRow& row : rows) {
    SCOPED_TRACE(row.teaches);
    LatencyHistogram histogram;
    for (const std::int64_t value : row.values_us) histogram.add(us(value));
    EXPECT_EQ(histogram.percentile_us(row.ppm), row.expected_us);
  }
}

TEST(LatencyHistogram, TheLongestDurationHasABucket) {
  LatencyHistogram histogram;
  histogram.add(Duration::max());
  EXPECT_GT(histogram.percentile_us(500'000), std::int64_t{1} << 39);
}

RC_GTEST_PROP(LatencyHistogram, IsWithinItsErrorOfTheExactPercentile, (std::vector<std::uint32_t> values)) {
  RC_PRE(!values.empty());
  LatencyHistogram histogram;
  for (const std::uint32_t value : values) histogram.add(us(value));
  std::ranges::sort(values);
  const std::int64_t ppm = *rc::gen::inRange<std::int64_t>(0, 1'000'001);
  const auto n = static_cast<std::int64_t>(values.size());
  const std::int64_t rank = std::max<std::int64_t>(1, (n * ppm + 999'999) / 1'000'000);
  const std::int64_t exact = values[static_cast<std::size_t>(rank - 1)];
  RC_ASSERT(std::abs(histogram.percentile_us(ppm) - exact) * 250 <= exact);  // 0.4 %
}

TEST(TtftBuckets, ComputesAPercentileAsPrometheusDoes) {
  TtftBuckets buckets;
  EXPECT_FALSE(buckets.percentile(990'000).has_value());
  for (int i = 0; i < 100; ++i) buckets.add(us(15'000));  // all in (10 ms, 20 ms]
  EXPECT_EQ(buckets.percentile(990'000), us(19'900));
  EXPECT_EQ(buckets.percentile(500'000), us(15'000));
}

TEST(TtftBuckets, ComputesTheShareAboveABound) {
  TtftBuckets buckets;
  EXPECT_FALSE(buckets.share_above_ppm(us(1'000'000)).has_value());
  for (int i = 0; i < 90; ++i) buckets.add(us(15'000));
  for (int i = 0; i < 8; ++i) buckets.add(us(2'000'000));  // in (1 s, 2.5 s]
  for (int i = 0; i < 2; ++i) buckets.add(std::chrono::hours(2));
  EXPECT_EQ(buckets.share_above_ppm(us(1'000'000)), 100'000);
  EXPECT_EQ(buckets.share_above_ppm(us(1'750'000)), 60'000) << "half of the eight values of the bucket";
  EXPECT_EQ(buckets.share_above_ppm(std::chrono::hours(3)), 20'000)
      << "the histogram does not show how far values exceed the last bound";
  EXPECT_EQ(buckets.share_above_ppm(Duration{}), 1'000'000);
}

TEST(TtftBuckets, ValuesAboveTheLastBoundCountAsTheLastBound) {
  TtftBuckets buckets;
  buckets.add(std::chrono::hours(2));
  EXPECT_EQ(buckets.percentile(500'000), us(2'560'000'000));
}

TEST(LatencyHistogram, AMergedHistogramIsThatOfAllValues) {
  LatencyHistogram one, other, all;
  for (int i = 0; i < 1000; ++i) {
    const Duration value = std::chrono::microseconds(i * i);
    (i % 3 == 0 ? one : other).add(value);
    all.add(value);
  }
  one.merge(other);
  EXPECT_EQ(one.count(), all.count());
  EXPECT_EQ(one.mean_us(), all.mean_us());
  for (const std::int64_t ppm : {100'000, 500'000, 990'000}) EXPECT_EQ(one.percentile_us(ppm), all.percentile_us(ppm));
}

}  // namespace
}  // namespace capstan::sim
