#include "workload/time_sorter.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace capstan::workload {
namespace {

using Arrival = std::pair<std::int64_t, int>;

RC_GTEST_PROP(TimeSorter, SortsLikeTheStandardLibrary, ()) {
  const auto spread = *rc::gen::element<std::int64_t>(1, 5, 1000, 1'000'000'000'000, INT64_MAX / 2);
  const auto times = *rc::gen::container<std::vector<std::int64_t>>(*rc::gen::inRange<std::size_t>(1, 300),
                                                                    rc::gen::inRange<std::int64_t>(-spread, spread));
  std::vector<Arrival> arrivals;
  for (const std::int64_t time : times) arrivals.emplace_back(time, static_cast<int>(arrivals.size()));
  std::vector<Arrival> expected = arrivals;
  std::ranges::sort(expected);
  TimeSorter<Arrival> sorter;
  sorter.sort(arrivals, [](const Arrival& arrival) { return arrival.first; }, std::less<>());
  RC_ASSERT(arrivals == expected);
}

TEST(TimeSorter, SortsCrowdedAndEqualTimes) {
  TimeSorter<std::int64_t> sorter;
  const auto sorted = [&](std::vector<std::int64_t> times) {
    std::vector<std::int64_t> expected = times;
    std::ranges::sort(expected);
    sorter.sort(times, [](std::int64_t time) { return time; }, std::less<>());
    return times == expected;
  };
  std::vector<std::int64_t> falling;
  for (std::int64_t i = 1000; i > 0; --i) falling.push_back(i);
  EXPECT_TRUE(sorted(falling));
  falling.push_back(std::int64_t{1} << 60);  // all others are in one part
  EXPECT_TRUE(sorted(falling));
  EXPECT_TRUE(sorted(std::vector<std::int64_t>(500, 7)));
  EXPECT_TRUE(sorted({}));
}

}  // namespace
}  // namespace capstan::workload
