#include "plan/search/fleet_candidates.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "plan/testing/sample_specs.h"

namespace capstan::plan {
namespace {

std::vector<FleetCandidate> candidates_of(const PlanSpec& spec) {
  const auto load = count_load(spec.services[0]);
  if (!load) return {};
  return fleet_candidates(spec, spec.services[0], *load, remaining_limits(spec, {}, {PeakNeed{}}))
      .value_or(std::vector<FleetCandidate>{});
}

TEST(CountLoad, KnowsBurstsAndLengths) {
  const PlanSpec spec = sample_specs::chat_spec();
  const LoadFacts load = count_load(spec.services[0]).value();
  EXPECT_NEAR(load.peak_per_s, 8, 0.8);    // a burst has 4 x 2 requests/s
  EXPECT_NEAR(load.mean_per_s, 3.5, 0.4);  // (5 min x 8 + 15 min x 2) / 20 min
  EXPECT_EQ(load.first_per_s, 2);
  EXPECT_NEAR(load.prompt_tokens, 1370, 80);  // 1000 x exp(0.8^2 / 2); a bit less, as long prompts are cut
  EXPECT_EQ(load.length, std::chrono::minutes(20));
  EXPECT_EQ(load.coarse_length, load.length);  // the short part contains the burst and its whole pause
  EXPECT_TRUE(load.is_whole);
}

TEST(FleetCandidates, HaveRoomForTheWeightsTheCheapestFirst) {
  const std::vector<FleetCandidate> candidates = candidates_of(sample_specs::chat_spec());
  ASSERT_FALSE(candidates.empty());
  EXPECT_TRUE(std::ranges::is_sorted(candidates, {}, &FleetCandidate::modelled_usd_per_hour));
  for (const FleetCandidate& candidate : candidates) {
    EXPECT_TRUE(engine::kv_capacity_blocks(candidate.engine)) << candidate.words();
    EXPECT_EQ(candidate.engine.gpu, candidate.machine.gpu);
    EXPECT_TRUE(candidate.holds_slo);
  }
  EXPECT_TRUE(std::ranges::any_of(candidates, [](const auto& c) { return c.engine.gpu == "h200_sxm"; }));
}

TEST(FleetCandidates, StayWithinTheLimits) {
  PlanSpec spec = sample_specs::small_spec();
  spec.limits.gpus = 5;
  for (const FleetCandidate& candidate : candidates_of(spec)) EXPECT_EQ(candidate.most_replicas, 5);
  spec.limits.per_hour = MicroUsd{20'000'000};  // two machines of 6.88 USD
  for (const FleetCandidate& candidate : candidates_of(spec)) EXPECT_EQ(candidate.most_replicas, 2);
}

TEST(FleetCandidates, HaveTheNeedsOfBothRoles) {
  const std::vector<FleetCandidate> candidates = candidates_of(sample_specs::disaggregated_spec());
  ASSERT_FALSE(candidates.empty());
  ASSERT_EQ(candidates[0].needs.size(), 2u);
  EXPECT_EQ(candidates[0].needs[0].capacity.prefill_share, 1);
  EXPECT_EQ(candidates[0].needs[1].capacity.prefill_share, 0);
}

TEST(FleetCandidates, RefuseALoadThatNoFleetCanServe) {
  PlanSpec spec = sample_specs::small_spec();
  spec.services[0].load.requests_per_s *= 1000;
  spec.services[0].load.duration = std::chrono::minutes(1);
  spec.services[0].max_replicas = 2;
  const auto load = count_load(spec.services[0]);
  ASSERT_TRUE(load);
  const auto candidates = fleet_candidates(spec, spec.services[0], *load, {});
  ASSERT_FALSE(candidates);
  EXPECT_EQ(candidates.error().kind, ErrorKind::infeasible);
  EXPECT_NE(candidates.error().message.find(
                "more than the 2 that the limits leave (services.small.max_replicas: 2); the nearest "
                "that is possible is about "),
            std::string::npos)
      << candidates.error().message;
}

TEST(FleetCandidates, NameTheLoadThatIsRefusedAndTheTightestLimit) {
  PlanSpec spec = sample_specs::spec_of(R"(
cluster:
  instances: [p5.4xlarge]
limits: {gpus: 2}
services:
  - name: small
    model: Llama-3.1-8B
    slo: {ttft_p99: 1s}
    load:
      requests_per_second: 6000
      duration: 1m
)");
  const auto load = count_load(spec.services[0]);
  ASSERT_TRUE(load);
  const auto candidates = fleet_candidates(spec, spec.services[0], *load, whole_limits(spec, spec.services[0]));
  ASSERT_FALSE(candidates);
  EXPECT_TRUE(candidates.error().text().starts_with("spec.yaml:10:7: services.small.load: "))
      << candidates.error().text();
  EXPECT_NE(candidates.error().message.find("more than the 2 that the limits leave (limits.gpus: 2 GPUs)"),
            std::string::npos)
      << candidates.error().message;
}

TEST(CountLoad, NamesALoadWithoutRequests) {
  PlanSpec spec = sample_specs::small_spec();
  spec.services[0].load.requests_per_s = 0.000'001;
  spec.services[0].load.burst_factor = 1;
  const auto load = count_load(spec.services[0]);
  ASSERT_FALSE(load);
  EXPECT_TRUE(load.error().text().starts_with(spec.services[0].load.place + ": services.small.load: no request"))
      << load.error().text();
}

TEST(FleetCandidates, CountMachinesOfReplicasThatSpanSeveral) {
  FleetCandidate candidate;
  candidate.engine.tp = 16;
  candidate.machine.gpus = 8;
  EXPECT_EQ(candidate.machines_for(3), 6);
  EXPECT_EQ(candidate.replicas_on(7), 3);
  candidate.engine.tp = 4;
  EXPECT_EQ(candidate.machines_for(3), 2);
  EXPECT_EQ(candidate.replicas_on(7), 14);
}

TEST(FleetCandidates, NameTheLimitsThatLeaveRoom) {
  PlanSpec spec = sample_specs::small_spec();
  spec.services[0].min_replicas = 3;
  RemainingLimits limits{.service = "small", .gpus = 2, .per_hour = MicroUsd{5'000'000}};
  const LoadFacts load = count_load(spec.services[0]).value();
  const auto few = fleet_candidates(spec, spec.services[0], load, limits);
  ASSERT_FALSE(few);
  const std::string text = few.error().text();
  EXPECT_NE(text.find("the nearest that is possible is limits.gpus: 3 and limits.usd_per_hour: 7.50"), text.npos)
      << text;
  limits.gpus = 3;
  limits.per_hour = MicroUsd{30'000'000};
  EXPECT_TRUE(fleet_candidates(spec, spec.services[0], load, limits));
}

}  // namespace
}  // namespace capstan::plan
