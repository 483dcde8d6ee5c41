#include "plan/search/tried_fleets.h"

#include <gtest/gtest.h>

namespace capstan::plan {
namespace {

FleetCandidate candidate_with(std::vector<ReplicaCount> at_peak, ReplicaCount most) {
  FleetCandidate candidate;
  candidate.engine.gpu_name = "H100";
  candidate.machine = {.name = "p5.48xlarge", .gpus = 8};
  for (const ReplicaCount replicas : at_peak) {
    RoleNeed need;
    need.at_peak = replicas;
    candidate.needs.push_back(need);
  }
  candidate.most_replicas = most;
  return candidate;
}

TriedFleet tried_with(const FleetCandidate& candidate, ReplicaCount minimum, std::int64_t met_ppm, std::int64_t usd,
                      bool holds) {
  TriedFleet tried{.key = {0, minimum, 0}, .fleet = {&candidate, {minimum}, {9}}, .holds_slo = holds};
  tried.seeds = {{.attainment_ppm = met_ppm, .micro_usd = usd * 1'000'000, .simulated = std::chrono::hours(1)}};
  return tried;
}

TEST(FleetOf, RaisesTheMinimaOfBothRolesTogether) {
  const std::vector<FleetCandidate> candidates = {candidate_with({2, 8}, 100)};
  EXPECT_EQ(peak_step(candidates[0]), 8);
  EXPECT_EQ(fleet_of(candidates, {0, 1, 0}).minimum, (std::vector<ReplicaCount>{1, 1}));
  EXPECT_EQ(fleet_of(candidates, {0, 4, 0}).minimum, (std::vector<ReplicaCount>{1, 4}));
  EXPECT_EQ(fleet_of(candidates, {0, 8, 0}).minimum, (std::vector<ReplicaCount>{2, 8}));
  EXPECT_EQ(fleet_of(candidates, {0, 8, 0}).maximum, (std::vector<ReplicaCount>{5, 17}));
  EXPECT_EQ(highest_step(candidates[0]), 20);
  EXPECT_EQ(fleet_of(candidates, {0, 20, 0}).minimum, (std::vector<ReplicaCount>{5, 17}));
}

TEST(FleetOf, StaysWithinTheLimits) {
  const std::vector<FleetCandidate> candidates = {candidate_with({2, 8}, 11)};
  EXPECT_EQ(fleet_of(candidates, {0, 1, 0}).maximum, (std::vector<ReplicaCount>{3, 8}));  // 11 x 5/22, 11 x 17/22
}

TEST(LimitsBind, IfTheyLowerTheMaximumOfAFleet) {
  EXPECT_TRUE(limits_bind(candidate_with({2, 8}, 21)));
  EXPECT_FALSE(limits_bind(candidate_with({2, 8}, 22)));  // the maxima without limits are 5 and 17
}

TEST(FleetOf, AConstantFleetHasItsMinimumAsItsMaximum) {
  const std::vector<FleetCandidate> candidates = {candidate_with({2, 8}, 100)};
  const FleetOption fleet = fleet_of(candidates, {0, 4, 0, ScalerKind::constant});
  EXPECT_EQ(fleet.maximum, fleet.minimum);
  EXPECT_EQ(fleet.scale.flow(),
            "{\"prefill\": {\"policy\": \"fixed\", \"replicas\": 1}, \"decode\": {\"policy\": \"fixed\", "
            "\"replicas\": 4}}");
  EXPECT_TRUE(fleet.words().ends_with(", constant fleet")) << fleet.words();
  const FleetOption spot = fleet_of(candidates, {0, 4, 1'000'000, ScalerKind::constant});
  EXPECT_FALSE(spot.words().contains("spot")) << "it adds no nodes: " << spot.words();
  EXPECT_FALSE(spot.short_words().contains("spot")) << spot.short_words();
}

TEST(IsBetter, PrefersWhatHoldsThenTheCheaperThenWhatMeetsMore) {
  const FleetCandidate candidate = candidate_with({4}, 9);
  const TriedFleet cheap_miss = tried_with(candidate, 1, 900'000, 10, false);
  const TriedFleet better_miss = tried_with(candidate, 1, 950'000, 20, false);
  const TriedFleet cheap = tried_with(candidate, 2, 990'000, 30, true);
  const TriedFleet dear = tried_with(candidate, 3, 999'000, 40, true);
  const TriedFleet meets_more = tried_with(candidate, 3, 999'000, 30, true);
  EXPECT_TRUE(is_better(cheap, better_miss));
  EXPECT_TRUE(is_better(better_miss, cheap_miss));
  EXPECT_TRUE(is_better(cheap, dear));
  EXPECT_TRUE(is_better(meets_more, cheap));
  EXPECT_FALSE(is_better(cheap, meets_more));
}

TEST(Frontier, MarksWhatNoCheaperFleetReaches) {
  const FleetCandidate candidate = candidate_with({4}, 9);
  std::map<FleetKey, TriedFleet> tried;
  tried[{0, 1, 0}] = tried_with(candidate, 1, 900'000, 10, false);
  tried[{0, 2, 0}] = tried_with(candidate, 2, 890'000, 20, false);
  tried[{0, 3, 0}] = tried_with(candidate, 3, 990'000, 30, true);
  const std::vector<FrontierPoint> points = frontier_of(tried, {0, 3, 0}, std::nullopt);
  ASSERT_EQ(points.size(), 3u);
  EXPECT_FALSE(points[0].is_chosen);
  EXPECT_TRUE(points[2].is_chosen);
  EXPECT_TRUE(points[0].is_efficient);
  EXPECT_FALSE(points[1].is_efficient);
  EXPECT_TRUE(points[2].is_efficient);
  EXPECT_EQ(points[2].fleet, "H100, tensor parallel 1, p5.48xlarge, 3 to 9 replicas");
}

}  // namespace
}  // namespace capstan::plan
