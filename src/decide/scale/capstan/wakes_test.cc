#include "decide/scale/capstan/wakes.h"

#include <gtest/gtest.h>

namespace capstan::decide::scale {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr double kNines = 0.99;

CapstanMemory::Episode episode(std::int64_t requests, std::int64_t early, double peak = 0.5) {
  return {{}, {}, requests * 1000, early * 1000, static_cast<std::int64_t>(peak * 1000)};
}

TEST(Wakes, AStartIsLateByItsTimeBeyondTheFirstStatedBound) {
  model::Slo slo{.ttft = seconds(5), .tpot = milliseconds(50), .e2e = seconds(60)};
  EXPECT_EQ(late_for(slo, seconds(120)), seconds(115));
  EXPECT_EQ(late_for(slo, seconds(4)), Duration{}) << "a wait within the bound is not late";
  slo.ttft = {};
  EXPECT_EQ(late_for(slo, seconds(120)), seconds(60));
  slo.e2e = {};
  EXPECT_EQ(late_for(slo, seconds(120)), Duration{}) << "nothing bounds the wait";
}

struct WakesRow {
  const char* teaches;
  std::vector<CapstanMemory::Episode> episodes;
  double target;
  Duration late_for;
  ReplicaCount warm;
  RequestCount late, allowed;
};

TEST(Wakes, ComparesLateRequestsWithHalfOfTheErrorBudget) {
  const Duration two = seconds(119);
  const WakesRow rows[] = {
      {"no request was ever seen", {}, kNines, two, 0, 0, 0},
      {"one request per day, always late: 1 of 1", {episode(1, 1)}, kNines, two, 1, 1, 0},
      {"a thousand requests, five of them early", {episode(1000, 5)}, kNines, two, 0, 5, 5},
      {"six of them early", {episode(1000, 6)}, kNines, two, 1, 6, 5},
      {"99.9 %: a tenth of that budget", {episode(1000, 5)}, 0.999, two, 1, 5, 0},
      {"nearly all requests may miss", {episode(10, 10)}, 0.0001, two, 1, 10, 4},
      {"a start within the bound delays nothing", {episode(1000, 900)}, kNines, {}, 0, 0, 5},
      {"many served requests allow some late wakes", {episode(5000, 20), episode(10, 4)}, kNines, two, 0, 24, 25},
      {"a burst that needs three replicas from its first minute", {episode(1000, 500, 2.6)}, kNines, two, 3, 500, 5},
      {"one of four bursts needs four replicas: too many late requests",
       {episode(900, 300, 1.9), episode(900, 300, 1.9), episode(900, 300, 1.9), episode(900, 300, 3.9)},
       kNines,
       two,
       4,
       1200,
       18},
      {"a small burst may be late", {episode(9000, 300, 1.9), episode(60, 40, 3.9)}, kNines, two, 2, 340, 45},
  };
  for (const WakesRow& row : rows) {
    CapstanMemory memory;
    memory.episodes = row.episodes;
    const WarmSizing warm = minimum_warm(memory, row.target, row.late_for, {hours(1)});
    EXPECT_EQ(warm.replicas, row.warm) << row.teaches;
    EXPECT_EQ(warm.requests_late, row.late) << row.teaches;
    EXPECT_EQ(warm.requests_allowed, row.allowed) << row.teaches;
    EXPECT_EQ(warm.wakes, std::ssize(row.episodes)) << row.teaches;
  }
}

TEST(Wakes, EpisodesAreForgottenAfterAWeekWithoutRequests) {
  CapstanMemory memory;
  memory.episodes = {episode(1, 1)};
  EXPECT_EQ(minimum_warm(memory, kNines, seconds(60), {hours(24 * 7)}).replicas, 1);
  EXPECT_EQ(minimum_warm(memory, kNines, seconds(60), {hours(24 * 7 + 1)}).replicas, 0);
}

/// Adds ten requests per 15 s, beginning at `from`.
void add_arrivals(CapstanMemory& memory, Instant from, int scrapes, double queued = 0) {
  for (int i = 0; i < scrapes; ++i) {
    const Instant now = from + i * seconds(15);
    record_arrivals({.requests = queued > 0 ? 0.0 : 10.0,
                     .queued = queued,
                     .request_s = 1.5,
                     .late_for = seconds(60),
                     .sleeps_after = minutes(10)},
                    memory, now);
    memory.last_used = now;
  }
}

TEST(Wakes, EarlyRequestsAreThoseBeforeAStartWouldEnd) {
  CapstanMemory memory;
  add_arrivals(memory, {hours(1)}, 40);
  ASSERT_EQ(memory.episodes.size(), 1u);
  EXPECT_EQ(memory.episodes[0].requests_milli, 400'000);
  EXPECT_EQ(memory.episodes[0].early_milli, 50'000) << "at 0, 15, 30, 45 and 60 s";
  EXPECT_EQ(memory.episodes[0].peak_milli, 1'000) << "ten in 15 s, 1.5 s of replica time each";
}

TEST(Wakes, AWaitingRequestAtTheGatewayIsEarlyAndCountedOnce) {
  CapstanMemory memory;
  add_arrivals(memory, {hours(1)}, 3, 7);
  EXPECT_EQ(memory.episodes[0].early_milli, 7'000);
  EXPECT_EQ(memory.episodes[0].requests_milli, 0) << "until their prompts are computed";
}

TEST(Wakes, AnIdleTimeTooShortToStopBeginsNoEpisode) {
  CapstanMemory memory;
  add_arrivals(memory, {hours(1)}, 4);
  add_arrivals(memory, {hours(1) + minutes(9)}, 4);
  EXPECT_EQ(memory.episodes.size(), 1u);
  add_arrivals(memory, {hours(1) + minutes(25)}, 4);
  EXPECT_EQ(memory.episodes.size(), 2u);
}

TEST(Wakes, TheOldestEpisodesAreForgotten) {
  CapstanMemory memory;
  for (int i = 1; i <= 20; ++i) add_arrivals(memory, {hours(i)}, 1);
  EXPECT_EQ(memory.episodes.size(), CapstanMemory::kMaxEpisodes);
  EXPECT_EQ(memory.episodes.front().began, Instant{hours(5)});
}

TEST(Wakes, ASavedMemoryMayHoldAnyNumber) {
  constexpr std::int64_t kMax = INT64_MAX;
  CapstanMemory memory;
  for (int i = 0; i < 40; ++i) memory.episodes.push_back({{}, {}, kMax, kMax, 1000});
  const WarmSizing warm = minimum_warm(memory, kNines, seconds(119), {});
  EXPECT_EQ(warm.replicas, 1);
  EXPECT_EQ(warm.requests, warm.requests_late);
  EXPECT_GT(warm.requests, 0);
  memory.last_used = Instant{};
  add_arrivals(memory, {hours(1)}, 1);
  EXPECT_EQ(memory.episodes.size(), CapstanMemory::kMaxEpisodes) << "surplus episodes are dropped";
  add_arrivals(memory, {hours(1) + minutes(2)}, 1);
  EXPECT_GT(memory.episodes.back().requests_milli, 0);
}

}  // namespace
}  // namespace capstan::decide::scale
