#include "signals/histogram.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

namespace capstan::signals {
namespace {

using std::chrono::seconds;

constexpr std::int64_t kInf = Histogram::kInfinity;

TEST(Histogram, HasTheQuantilesOfPrometheus) {
  const struct {
    const char* title;
    Histogram histogram;
    std::int64_t share_ppm;
    std::optional<std::int64_t> value;
  } rows[] = {
      {"nothing observed", {{100, kInf}, {0, 0}}, 990'000, std::nullopt},
      {"no buckets", {{}, {}}, 990'000, std::nullopt},
      {"linear in the first bucket", {{100, 200, kInf}, {10, 10, 10}}, 500'000, 50},
      {"linear within", {{100, 200, kInf}, {10, 20, 20}}, 750'000, 150},
      {"on a bound", {{100, 200, kInf}, {10, 20, 20}}, 500'000, 100},
      {"in the unbounded bucket", {{100, 200, kInf}, {1, 2, 100}}, 990'000, 200},
      {"only that bucket", {{kInf}, {100}}, 990'000, 0},
      {"a bound below zero first", {{-5, 200, kInf}, {10, 10, 10}}, 500'000, -5},
      {"share 0 is the lowest bound", {{100, 200, kInf}, {0, 10, 10}}, 0, 0},
      {"rounded down", {{100, 200, kInf}, {0, 3, 3}}, 500'000, 150},
      {"large counts",
       {{1'000'000, 2'560'000'000, kInf}, {0, 9'000'000'000'000, 9'000'000'000'000}},
       500'000,
       1'280'500'000},
  };
  for (const auto& row : rows) EXPECT_EQ(quantile(row.histogram, row.share_ppm), row.value) << row.title;
}

TEST(Histogram, HasTheFractionsOfPrometheus) {
  const struct {
    const char* title;
    Histogram histogram;
    std::int64_t value;
    std::optional<std::int64_t> above_ppm;
  } rows[] = {
      {"nothing observed", {{100, kInf}, {0, 0}}, 50, std::nullopt},
      {"no buckets", {{}, {}}, 50, std::nullopt},
      {"within the first bucket", {{100, 200, kInf}, {10, 20, 20}}, 30, 850'000},
      {"within another", {{100, 200, kInf}, {10, 20, 20}}, 150, 250'000},
      {"on a bound", {{100, 200, kInf}, {10, 20, 20}}, 100, 500'000},
      {"on the last finite bound", {{100, 200, kInf}, {10, 20, 25}}, 200, 200'000},
      {"in the unbounded bucket", {{100, 200, kInf}, {10, 20, 25}}, 1'000'000, 200'000},
      {"only that bucket", {{kInf}, {100}}, 50, 1'000'000},
      {"below all", {{100, 200, kInf}, {10, 20, 20}}, -1, 1'000'000},
      {"a bound below zero first", {{-5, 195, kInf}, {10, 20, 20}}, 95, 250'000},
  };
  for (const auto& row : rows) EXPECT_EQ(share_above_ppm(row.histogram, row.value), row.above_ppm) << row.title;
}

RC_GTEST_PROP(Histogram, QuantilesAscend, ()) {
  Histogram histogram;
  std::int64_t bound = 0;
  std::int64_t count = 0;
  for (const auto& [step, observed] : *rc::gen::container<std::vector<std::pair<std::uint8_t, std::uint8_t>>>(
           rc::gen::arbitrary<std::pair<std::uint8_t, std::uint8_t>>())) {
    histogram.bounds.push_back(bound += step + 1);
    histogram.counts.push_back(count += observed);
  }
  histogram.bounds.push_back(kInf);
  histogram.counts.push_back(count);
  std::int64_t last = 0;
  for (std::int64_t ppm = 0; ppm <= 1'000'000; ppm += 50'000) {
    const std::optional<std::int64_t> value = quantile(histogram, ppm);
    RC_ASSERT(value.has_value() == (count > 0));
    if (!value) return;
    RC_ASSERT(*value >= last);
    RC_ASSERT(*value <= bound);
    last = *value;
  }
}

TEST(WindowedHistogram, DropsObservationsOlderThanTheWindow) {
  const seconds window(80);  // each slot spans ten seconds
  WindowedHistogram windowed;
  const auto histogram = [](std::int64_t n) { return Histogram{{100, kInf}, {n, n}}; };
  windowed.add(histogram(1), {seconds(5)}, window);
  windowed.add(histogram(2), {seconds(9)}, window);
  windowed.add(histogram(4), {seconds(40)}, window);
  const struct {
    seconds now;
    std::int64_t observed;
  } rows[] = {{seconds(40), 7}, {seconds(79), 7}, {seconds(80), 4}, {seconds(119), 4}, {seconds(120), 0}};
  for (const auto& row : rows) EXPECT_EQ(windowed.sum({row.now}, window).total(), row.observed) << row.now.count();
  windowed.add(histogram(8), {seconds(121)}, window);
  EXPECT_EQ(windowed.sum({seconds(121)}, window).total(), 8) << "the slot of second 40 is reused";
}

TEST(Histogram, AHistogramWithOtherBoundsReplacesTheSum) {
  Histogram all{{100, kInf}, {1, 2}};
  all.add({{100, kInf}, {10, 20}});
  EXPECT_EQ(all, (Histogram{{100, kInf}, {11, 22}}));
  all.add({{50, kInf}, {3, 4}});
  EXPECT_EQ(all, (Histogram{{50, kInf}, {3, 4}}));
}

}  // namespace
}  // namespace capstan::signals
