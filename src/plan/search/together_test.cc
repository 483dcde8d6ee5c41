#include "plan/search/together.h"

#include <gtest/gtest.h>

#include "plan/result/figures.h"
#include "plan/search/budget.h"
#include "plan/testing/sample_specs.h"

namespace capstan::plan {
namespace {

/// Two services with a steady load for ten minutes, on constant fleets of machines with one GPU.
class TogetherTest : public ::testing::Test {
 protected:
  TogetherTest() : spec_(sample_specs::small_spec()) {
    spec_.services[0].load.burst_factor = 1;
    spec_.services[0].load.requests_per_s = 30;
    spec_.services[0].load.duration = std::chrono::minutes(10);
    spec_.services.push_back(spec_.services[0]);
    spec_.services[1].name = "second";
    for (const ServiceSpec& service : spec_.services) {
      const LoadFacts load = count_load(service).value();
      auto candidates = fleet_candidates(spec_, service, load, {}).value();
      simulators_.push_back(std::make_unique<FleetSimulator>(spec_, service, load, std::move(candidates), options_));
    }
  }

  /// Plans both services with constant fleets of these sizes.
  TogetherResult prove(ReplicaCount first, ReplicaCount second) {
    std::vector<ServicePlan> plans;
    std::vector<ChosenFleet> chosen;
    for (std::size_t i = 0; i < 2; ++i) {
      const FleetKey key{0, i == 0 ? first : second, 0, ScalerKind::constant};
      const FleetOption fleet = fleet_of(simulators_[i]->candidates(), key);
      RoleFleet role{.engine = fleet.candidate->engine,
                     .machine = fleet.candidate->machine,
                     .minimum = fleet.minimum[0],
                     .maximum = fleet.maximum[0]};
      plans.push_back({.service = spec_.services[i].name, .roles = {role}, .scaler = ScalerKind::constant});
      chosen.push_back({simulators_[i].get(), key});
    }
    return prove_together(spec_, plans, chosen, options_).value();
  }

  PlanSpec spec_;
  SearchOptions options_{};
  std::vector<std::unique_ptr<FleetSimulator>> simulators_;
};

TEST_F(TogetherTest, HoldsTheSloOfServicesWithEnoughReplicas) {
  const ReplicaCount enough = 2 * peak_step(simulators_[0]->candidates()[0]);
  const TogetherResult found = prove(enough, enough);
  EXPECT_TRUE(found.proof.trials.holds_slo());
  EXPECT_FALSE(found.proof.remedy);
  EXPECT_EQ(found.simulations, 5);
  const std::int64_t nodes = 2 * enough;
  EXPECT_NEAR(static_cast<double>(found.proof.trials.micro_usd_per_hour), static_cast<double>(nodes) * 6.88e6, 100)
      << "each replica has a machine";
}

TEST_F(TogetherTest, RaisesTheMinimumOfTheServiceThatMissesItsSlo) {
  const ReplicaCount peak = peak_step(simulators_[0]->candidates()[0]);
  ASSERT_GT(peak, 1);
  const TogetherResult found = prove(2 * peak, 1);
  EXPECT_TRUE(found.proof.trials.services[0].holds_slo);
  EXPECT_FALSE(found.proof.trials.services[1].holds_slo);
  ASSERT_TRUE(found.proof.remedy);
  EXPECT_TRUE(found.proof.remedy->minima[0].empty()) << "this service holds its SLO";
  ASSERT_EQ(found.proof.remedy->minima[1].size(), 1u);
  EXPECT_GT(found.proof.remedy->minima[1][0].minimum, 1);
  EXPECT_GT(found.proof.remedy->trials.services[1].lowest_ppm(), found.proof.trials.services[1].lowest_ppm());
  EXPECT_GT(found.proof.remedy->trials.micro_usd_per_hour, found.proof.trials.micro_usd_per_hour);
}

TEST_F(TogetherTest, AHigherMinimumThatMissesIsSimulatedOnce) {
  const ReplicaCount peak = peak_step(simulators_[0]->candidates()[0]);
  ASSERT_GT(peak, 2) << "two replicas miss the SLO, too";
  const TogetherResult found = prove(2 * peak, 1);
  ASSERT_TRUE(found.proof.remedy);
  const std::int64_t tried = found.proof.remedy->minima[1][0].minimum - 1;  // each try raises the minimum by one
  ASSERT_GT(tried, 1);
  const std::int64_t last = found.proof.remedy->trials.holds_slo() ? 5 : 1;
  EXPECT_EQ(found.proof.remedy->trials.seeds, last);
  EXPECT_EQ(found.simulations, 5 + (tried - 1) + last);
}

TEST(TogetherTrials, HoldTheSloOnlyUnderEverySeed) {
  PlanSpec spec = sample_specs::small_spec();
  std::vector<experiment::RunResult> results(2);
  for (experiment::RunResult& result : results) {
    result.simulated = std::chrono::hours(1);
    result.services.emplace_back().requests = {.arrived = 1000, .completed = 1000, .met = 995};
  }
  EXPECT_TRUE(together_trials(spec, results).holds_slo());
  spec.services[0].goodput_per_s = 1;
  EXPECT_FALSE(together_trials(spec, results).holds_slo()) << "no minute has a request";
  spec.services[0].goodput_per_s.reset();
  results[1].services[0].requests.met = 980;
  results[1].services[0].ttft.p99_us = 700'000;
  const TogetherTrials missed = together_trials(spec, results);
  EXPECT_FALSE(missed.holds_slo());
  EXPECT_EQ(missed.services[0].lowest_ppm(), 980'000);
  EXPECT_EQ(missed.services[0].ttft_p99, std::chrono::milliseconds(700));
  results[0].services.clear();
  results[1].services[0].requests.met = 995;
  EXPECT_FALSE(together_trials(spec, results).holds_slo()) << "one run does not report the service";
}

TEST(TogetherTrials, AddUpWhatTheJobsGot) {
  const PlanSpec spec = sample_specs::small_spec();
  std::vector<experiment::RunResult> results(2);
  for (experiment::RunResult& result : results) {
    result.simulated = std::chrono::hours(2);
    result.services.emplace_back().requests = {.arrived = 1000, .completed = 1000, .met = 995};
    result.jobs.push_back(
        {.name = "tune", .team = "lab", .arrived = 3, .ended = 2, .preempted = 1, .micro_usd = 8'000'000});
  }
  results[1].jobs[0].wait_p99 = std::chrono::minutes(4);
  const TogetherTrials trials = together_trials(spec, results);
  ASSERT_EQ(trials.jobs.size(), 1u);
  EXPECT_EQ(trials.jobs[0].tenant, "lab");
  EXPECT_EQ(trials.jobs[0].arrived, 6);
  EXPECT_EQ(trials.jobs[0].preempted, 2);
  EXPECT_EQ(trials.jobs[0].wait_p99, std::chrono::minutes(4)) << "the worst of the seeds";
  EXPECT_EQ(trials.jobs_micro_usd_per_hour, 4'000'000);
}

TEST(TogetherSeeds, AreFewerOnlyForLoadsThatTakeTooLong) {
  EXPECT_EQ(together_seeds(0), kSeeds);
  EXPECT_EQ(together_seeds(2'400'000), kSeeds) << "more than kHugeLoadRequests";
  EXPECT_EQ(together_seeds(4'000'000), 3u);
  EXPECT_EQ(together_seeds(20'000'000), 1u);
}

}  // namespace
}  // namespace capstan::plan
