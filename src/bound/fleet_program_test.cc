#include "bound/fleet_program.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "bound/level_plan.h"

namespace capstan::bound {
namespace {

using std::chrono::seconds;

/// Makes a job of `tenths` tenths of a replica-second, all of it prefill.
Job job(std::int64_t release_s, std::int64_t due_s, int tenths) {
  return {.release = {seconds(release_s)},
          .prefill_due = {seconds(due_s)},
          .due = {seconds(due_s)},
          .prefill_s = tenths / 10.0,
          .decode_s = 0};
}

std::vector<Job> some_jobs(std::size_t most, std::int64_t bins, std::int64_t longest) {
  std::vector<Job> jobs;
  const auto count = static_cast<std::size_t>(*rc::gen::inRange<int>(1, static_cast<int>(most) + 1));
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t release = *rc::gen::inRange<std::int64_t>(0, bins);
    const std::int64_t due = std::min(bins, release + *rc::gen::inRange<std::int64_t>(1, longest + 1));
    jobs.push_back(job(release, due, *rc::gen::inRange(1, 18)));
  }
  return jobs;
}

/// Returns true if these jobs can be done with these replicas in each second. A job can be divided between replicas,
/// and the job with the earliest deadline is done first.
bool feasible(std::vector<Job> jobs, const std::vector<int>& replicas) {
  std::ranges::sort(jobs, {}, &Job::due);
  for (std::size_t second = 0; second < replicas.size(); ++second) {
    double left = replicas[second];
    const Instant end{seconds(second + 1)};
    for (Job& job : jobs) {
      if (job.release >= end) continue;
      const double done = std::min(left, job.prefill_s);
      job.prefill_s -= done;
      left -= done;
      if (job.due <= end && job.prefill_s > 1e-9) return false;
    }
  }
  return true;
}

double cost_of(const std::vector<int>& replicas, const FleetTerms& terms) {
  double cost = 0;
  double before = terms.initial;
  for (const int level : replicas) {
    const double paid = std::max<double>(level, terms.standing);
    cost += paid + terms.start_s * std::max(paid - std::max(before, terms.standing), 0.0);
    before = paid;
  }
  return cost;
}

/// Returns the lowest cost over all plans of up to three replicas. One job is dropped if `allowed_misses` allows it.
double cheapest_of_all(const std::vector<Job>& jobs, const FleetTerms& terms, std::size_t bins) {
  double best = 1e300;
  std::vector<int> replicas(bins, 0);
  for (std::size_t plan = 0; plan < (1u << (2 * bins)); ++plan) {
    for (std::size_t i = 0; i < bins; ++i) replicas[i] = static_cast<int>(plan >> (2 * i) & 3u);
    const double cost = cost_of(replicas, terms);
    if (cost >= best) continue;
    bool possible = feasible(jobs, replicas);
    for (std::size_t i = 0; i < jobs.size() && !possible && terms.allowed_misses > 0; ++i) {
      std::vector<Job> fewer = jobs;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      possible = feasible(fewer, replicas);
    }
    if (possible) best = cost;
  }
  return best;
}

TEST(FleetProgram, OneReplicaDoesWorkThatCanWait) {
  // One replica does this work without a break: three seconds of work are due by second three.
  const std::vector<Job> jobs = {job(0, 3, 10), job(0, 3, 10), job(1, 3, 10)};
  const FleetBound bound = least_fleet(corridor(jobs, seconds(1), 100), {.start_s = 5});
  EXPECT_TRUE(bound.solved);
  EXPECT_NEAR(bound.least_s, 3 + 5, 1e-6);
  EXPECT_LE(bound.least_s, 8);
}

TEST(FleetProgram, TheHeaviestJobsAreDropped) {
  const std::vector<Job> jobs = {job(0, 1, 10), job(2, 3, 4), job(4, 5, 3)};
  const Corridor within = corridor(jobs, seconds(1), 100);
  EXPECT_NEAR(least_fleet(within, {.start_s = 0, .allowed_misses = 1}).least_s, 0.7, 1e-6);
  EXPECT_NEAR(least_fleet(within, {.start_s = 0, .allowed_misses = 2}).least_s, 0.3, 1e-6);
}

TEST(FleetProgram, StandingReplicasArePaidForAndFreeToUse) {
  const std::vector<Job> jobs = {job(0, 1, 10), job(1, 2, 20)};
  const FleetTerms terms{.start_s = 3, .standing = 1, .initial = 1, .span = seconds(10)};
  EXPECT_NEAR(least_fleet(corridor(jobs, seconds(1), 100), terms).least_s, 10 + 1 + 3, 1e-6);
}

TEST(FleetProgram, CoarserBinsOnlyLowerTheBound) {
  std::vector<Job> jobs;
  for (std::int64_t i = 0; i < 60; ++i) jobs.push_back(job(i, i + 1, i % 7 == 0 ? 30 : 5));
  const FleetTerms terms{.start_s = 4};
  const double fine = least_fleet(corridor(jobs, seconds(1), 1000), terms).least_s;
  const Corridor coarse = corridor(jobs, seconds(1), 10);
  EXPECT_LE(coarse.bins(), 10u);
  const double rough = least_fleet(coarse, terms).least_s;
  EXPECT_LE(rough, fine + 1e-6);
  EXPECT_GT(rough, 0.3 * fine);
}

RC_GTEST_PROP(FleetProgram, WithoutSlackItEqualsTheLevelPlan, ()) {
  const std::vector<Job> jobs = some_jobs(12, 8, 1);
  FleetTerms terms;
  terms.start_s = *rc::gen::inRange(0, 50) / 10.0;
  terms.initial = *rc::gen::inRange(0, 3);
  const Corridor within = corridor(jobs, seconds(1), 100);
  std::vector<double> demand;
  for (std::size_t i = 0; i < within.bins(); ++i) {
    demand.push_back(within.due_s[i] - (i == 0 ? 0 : within.due_s[i - 1]));
  }
  const LevelPlan plan = cheapest_levels(demand, terms.start_s, terms.initial);
  const FleetBound bound = least_fleet(within, terms);
  RC_ASSERT(bound.solved);
  const double levels = plan.paid + terms.start_s * plan.starts;
  RC_ASSERT(bound.least_s <= levels + 1e-9);
  RC_ASSERT(bound.least_s >= levels - 1e-6);
}

RC_GTEST_PROP(FleetProgram, NoPlanOfWholeReplicasIsBelowTheBound, ()) {
  constexpr std::size_t kBins = 5;
  const std::vector<Job> jobs = some_jobs(6, kBins, 3);
  FleetTerms terms;
  terms.start_s = *rc::gen::inRange(0, 50) / 10.0;
  terms.initial = *rc::gen::inRange(0, 3);
  terms.standing = *rc::gen::inRange(0, 2);
  terms.span = seconds(kBins);
  terms.allowed_misses = *rc::gen::inRange(0, 2);
  const FleetBound bound = least_fleet(corridor(jobs, seconds(1), 100), terms);
  RC_ASSERT(bound.least_s <= cheapest_of_all(jobs, terms, kBins) + 1e-9);
}

}  // namespace
}  // namespace capstan::bound
