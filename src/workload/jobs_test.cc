// Goal: the jobs of a class arrive as its settings say, and equal seeds draw equal jobs.
#include "workload/jobs.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace capstan::workload {
namespace {

using namespace std::chrono_literals;

std::vector<JobArrival> drawn(const JobLoad& load, std::uint64_t seed = 1) { return draw_jobs(load, seed); }

TEST(DrawJobs, BatchesArriveTogetherEachDay) {
  JobLoad load;
  load.batches = {.count = 3, .at = 22h, .interval = 24h};
  load.until = 48h;
  const std::vector<JobArrival> jobs = drawn(load);
  ASSERT_EQ(jobs.size(), 6u);
  EXPECT_EQ(jobs[2].at, Instant{22h});
  EXPECT_EQ(jobs[3].at, Instant{46h});
  EXPECT_EQ(jobs[0].work, 10min) << "without a spread every job takes the median";
  load.batches.interval = {};
  EXPECT_EQ(drawn(load).size(), 3u);
  load.batches.at = 48h;
  EXPECT_TRUE(drawn(load).empty()) << "the batch arrives at the end";
}

TEST(DrawJobs, ARateIsHeldOnAverageAndPeaksAtItsTime) {
  JobLoad load;
  load.rate = {.per_hour = 60, .peak_per_hour = 0, .peak_at = {}};
  load.until = 100h;
  EXPECT_NEAR(static_cast<double>(drawn(load).size()), 6000, 300);
  load.rate = {.per_hour = 0, .peak_per_hour = 600, .peak_at = 3h};
  load.until = 24h;
  const std::vector<JobArrival> jobs = drawn(load);
  const auto between = [&](Duration from, Duration to) {
    return std::ranges::count_if(
        jobs, [&](const JobArrival& job) { return job.at >= Instant{from} && job.at < Instant{to}; });
  };
  EXPECT_GT(between(2h, 4h), 10 * between(14h, 16h));
}

TEST(DrawJobs, SizesAndLengthsFollowTheirDistribution) {
  JobLoad load;
  load.rate.per_hour = 1000;
  load.until = 10h;
  load.sizes = {{.pods = 1, .gpus_per_pod = 1, .weight = 3}, {.pods = 4, .gpus_per_pod = 8, .weight = 1}};
  load.work = {.median = 10min, .sigma = 1, .least = 1min, .most = 2h};
  const std::vector<JobArrival> jobs = drawn(load);
  const auto large = std::ranges::count(jobs, 4, &JobArrival::pods);
  EXPECT_NEAR(static_cast<double>(large) / static_cast<double>(jobs.size()), 0.25, 0.03);
  const auto longer = std::ranges::count_if(jobs, [](const JobArrival& job) { return job.work > 10min; });
  EXPECT_NEAR(static_cast<double>(longer) / static_cast<double>(jobs.size()), 0.5, 0.03);
  EXPECT_TRUE(std::ranges::all_of(jobs, [](const JobArrival& job) { return job.work >= 1min && job.work <= 2h; }));
}

TEST(DrawJobs, EqualSeedsDrawEqualJobs) {
  JobLoad load;
  load.rate.per_hour = 100;
  load.work.sigma = 1;
  load.until = 5h;
  const auto key = [](const JobArrival& job) { return std::tuple(job.at, job.pods, job.gpus_per_pod, job.work); };
  const auto same = [&](const std::vector<JobArrival>& a, const std::vector<JobArrival>& b) {
    return std::ranges::equal(a, b, {}, key, key);
  };
  EXPECT_TRUE(same(drawn(load, 7), drawn(load, 7)));
  EXPECT_FALSE(same(drawn(load, 7), drawn(load, 8)));
}

TEST(DrawJobs, TheExpectedNumberIsTheMeanOfTheDrawnOnes) {
  JobLoad load;
  load.batches = {.count = 30, .at = 2h, .interval = 24h};
  load.until = 50h;
  EXPECT_EQ(expected_jobs(load), 60) << "the batch at 50 h no longer counts";
  EXPECT_EQ(drawn(load).size(), 60u);
  load.batches.count = 0;
  load.rate = {.per_hour = 10, .peak_per_hour = 30, .peak_at = 3h};
  load.until = 240h;
  EXPECT_EQ(expected_jobs(load), 4800);
  EXPECT_NEAR(static_cast<double>(drawn(load).size()), 4800, 300);
}

}  // namespace
}  // namespace capstan::workload
