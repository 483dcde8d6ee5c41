#include "plan/search/search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "experiment/run/batch.h"
#include "plan/feasibility/feasible.h"
#include "plan/result/figures.h"
#include "plan/testing/sample_specs.h"

namespace capstan::plan {
namespace {

SearchResult found(const PlanSpec& spec, unsigned jobs = 0) {
  const auto result = search_fleets(spec, {.jobs = jobs, .progress = {}});
  if (!result) {
    ADD_FAILURE() << result.error().text();
    return {};
  }
  return *result;
}

TEST(SearchFleets, HoldsTheSloOfTheChatServiceUnderFiveSeeds) {
  const SearchResult result = found(sample_specs::chat_spec());
  ASSERT_EQ(result.services.size(), 1u);
  const ServicePlan& plan = result.services[0];
  EXPECT_TRUE(plan.holds_slo);
  ASSERT_EQ(plan.seeds.size(), 5u);
  for (const Trial& trial : plan.seeds) EXPECT_GE(trial.attainment_ppm, 990'000) << trial.name;
  EXPECT_EQ(plan.roles.size(), 1u);
  EXPECT_EQ(plan.roles[0].engine.model, "Llama-3.3-70B");
  EXPECT_GE(plan.roles[0].peak_ready, plan.roles[0].minimum);
  EXPECT_LE(plan.roles[0].peak_ready, plan.roles[0].maximum);
  EXPECT_EQ(plan.robustness.size(), plan.scaler == ScalerKind::capstan ? 3u : 4u) << "more load also under Capstan";
  ASSERT_TRUE(plan.runner_up);
  const auto own = std::ranges::find_if(
      plan.frontier, [&](const FrontierPoint& point) { return point.micro_usd_per_hour == micro_usd_per_hour(plan); });
  EXPECT_NE(own, plan.frontier.end());
}

TEST(SearchFleets, AnswersTheSameOnAnyNumberOfCores) {
  const SearchResult one = found(sample_specs::small_spec(), 1), many = found(sample_specs::small_spec(), 3);
  EXPECT_EQ(one.simulations, many.simulations);
  EXPECT_EQ(one.services[0].scenario, many.services[0].scenario);
  EXPECT_EQ(micro_usd_per_hour(one.services[0]), micro_usd_per_hour(many.services[0]));
}

TEST(SearchFleets, TheScenarioOfThePlanRepeatsItsFirstSeed) {
  const ServicePlan plan = found(sample_specs::disaggregated_spec()).services.at(0);
  EXPECT_EQ(plan.roles.size(), 2u);
  const auto scenario = scenario::parse_scenario(plan.scenario, "scenario-split.yaml");
  ASSERT_TRUE(scenario) << scenario.error().list.front().text() << "\n" << plan.scenario;
  const auto again = experiment::run(*scenario, scenario->policies.front(), 1);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->attainment_ppm(), plan.seeds[0].attainment_ppm);
  EXPECT_EQ(again->total_micro_usd(), plan.seeds[0].micro_usd);
}

TEST(SearchFleets, HoldsTheBoundThatARefusalAdvises) {
  PlanSpec spec = sample_specs::small_spec();
  for (const auto& [bound, stated] : {std::pair(&model::Slo::tpot, "tpot"), std::pair(&model::Slo::ttft, "ttft"),
                                      std::pair(&model::Slo::e2e, "e2e")}) {
    PlanSpec refused = spec;
    refused.services[0].slo.*bound = std::chrono::microseconds(100);
    const std::vector<ImpossibleDemand> demands = impossible_demands(refused);
    ASSERT_EQ(demands.size(), 1u) << stated;
    constexpr std::string_view kNearest = "the nearest possible bound is ";
    const std::size_t at = demands[0].message.find(kNearest);
    ASSERT_NE(at, std::string::npos) << demands[0].message;
    const std::string advised = demands[0].message.substr(at + kNearest.size());  // "12 ms, ..." or "6.83 s, ..."
    std::size_t digits = 0;
    const double number = std::stod(advised, &digits);
    refused.services[0].slo.*bound =
        std::chrono::microseconds(std::llround(number * (advised.substr(digits).starts_with(" s") ? 1e6 : 1e3)));
    EXPECT_TRUE(found(refused).services.at(0).holds_slo) << demands[0].message;
  }
}

TEST(SearchFleets, SaysWhatAllNodesAsSpotWouldCost) {
  PlanSpec spec = sample_specs::small_spec();
  const ServicePlan plan = found(spec).services.at(0);
  ASSERT_TRUE(plan.spot_base);
  EXPECT_EQ(plan.spot_base->seeds.size(), 5u);
  EXPECT_LT(plan.spot_base->micro_usd_per_hour, micro_usd_per_hour(plan));
  EXPECT_EQ(plan.roles[0].base, model::CapacityType::on_demand) << "the spec does not allow a base of spot nodes";
  spec.cluster.may_buy_spot_base = true;
  const ServicePlan allowed = found(spec).services.at(0);
  EXPECT_TRUE(allowed.holds_slo);
  if (allowed.roles[0].base == model::CapacityType::spot) {
    EXPECT_LT(micro_usd_per_hour(allowed), micro_usd_per_hour(plan));
    EXPECT_FALSE(allowed.spot_base);
    EXPECT_EQ(allowed.robustness.back().condition, TrialCondition::reclaims);
    EXPECT_GE(allowed.robustness.back().attainment_ppm, 990'000);
  } else {
    EXPECT_FALSE(allowed.spot_base->holds_slo) << "it was cheaper, so it must have missed the SLO";
  }
}

TEST(SearchFleets, TakesASpotBaseThatNeedsAHigherMinimum) {
  PlanSpec spec = sample_specs::spec_of(R"(
cluster:
  instances: [{instance: p5.4xlarge, usd_per_hour: 6.88, spot_usd_per_hour: 1.20}]
  capacity: [on_demand, spot]
  spot_base: true
services:
  - name: small
    model: Llama-3.1-8B
    slo: {ttft_p99: 1s, tpot: 50ms}
    load: {requests_per_second: 5, burst_factor: 1, duration: 20m}
)");
  const ServicePlan plan = found(spec).services.at(0);
  EXPECT_EQ(plan.roles[0].base, model::CapacityType::spot);
  EXPECT_GE(plan.robustness.back().attainment_ppm, 990'000) << "under more reclaims";
  spec.cluster.may_buy_spot_base = false;
  const ServicePlan on_demand = found(spec).services.at(0);
  EXPECT_GT(plan.roles[0].minimum, on_demand.roles[0].minimum);
  EXPECT_LT(micro_usd_per_hour(plan), micro_usd_per_hour(on_demand));
}

TEST(SearchFleets, AFleetThatMissesItsSloIsAResult) {
  PlanSpec spec = sample_specs::small_spec();
  spec.services[0].max_replicas = 1;
  spec.services[0].load.requests_per_s = 60;
  const ServicePlan plan = found(spec).services.at(0);
  EXPECT_FALSE(plan.holds_slo);
  EXPECT_EQ(plan.roles[0].maximum, 1);
  EXPECT_LT(lowest_attainment_ppm(plan), 990'000);
}

/// The bursts of the load have 18 requests/s.
TEST(SearchFleets, AGoodputThatIsNotReachedIsAMiss) {
  PlanSpec spec = sample_specs::small_spec();
  spec.services[0].goodput_per_s = 12;
  const ServicePlan held = found(spec).services.at(0);
  EXPECT_TRUE(held.holds_slo);
  for (const Trial& trial : held.seeds) EXPECT_GE(trial.goodput_milli, 12'000) << trial.name;
  spec.services[0].goodput_per_s = 25;
  EXPECT_FALSE(found(spec).services.at(0).holds_slo);
}

TEST(SearchFleets, KeepsTheLimitForAllServicesTogether) {
  PlanSpec spec = sample_specs::small_spec();
  spec.services.push_back(spec.services[0]);
  spec.services[1].name = "second";
  spec.limits.gpus = 5;
  const SearchResult result = found(spec);
  ASSERT_EQ(result.services.size(), 2u);
  const ReplicaCount first = result.services[0].roles[0].maximum, second = result.services[1].roles[0].maximum;
  EXPECT_LE(first + second, 5);
  EXPECT_GE(std::min(first, second), 1);
  EXPECT_FALSE(result.services[0].bounded_by.empty());
  EXPECT_TRUE(result.services[0].shared_micro_usd_per_hour);
}

TEST(SearchFleets, SimulatesAllServicesOnOneCluster) {
  PlanSpec spec = sample_specs::small_spec();
  EXPECT_FALSE(found(spec).together) << "one service has nothing to share";
  spec.services.push_back(spec.services[0]);
  spec.services[1].name = "second";
  const SearchResult result = found(spec);
  ASSERT_TRUE(result.together);
  const TogetherTrials& trials = result.together->trials;
  EXPECT_EQ(trials.seeds, 5);
  ASSERT_EQ(trials.services.size(), 2u);
  EXPECT_EQ(trials.services[1].service, "second");
  for (const TogetherService& service : trials.services) {
    EXPECT_EQ(service.holds_slo, service.lowest_ppm() >= 990'000) << service.service;
  }
  const auto scenario = scenario::parse_scenario(result.together->scenario, "together.yaml");
  ASSERT_TRUE(scenario) << scenario.error().text();
  const auto again = experiment::run(*scenario, scenario->policies.front(), 1);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->services.at(1).attainment_ppm(), trials.services[1].attainment_ppm.front());
}

TEST(SearchFleets, CountsSharedNodesOnceInTheLimits) {
  PlanSpec spec = sample_specs::small_spec();
  const PlanSpec large = sample_specs::chat_spec();
  spec.cluster.machines = {large.cluster.machines.front()};
  spec.cluster.capacity = {model::CapacityType::on_demand};
  spec.services.push_back(spec.services[0]);
  spec.services[1].name = "second";
  spec.limits.per_hour = MicroUsd{60'000'000};  // one machine costs 55.04 USD
  const SearchResult result = found(spec);
  ASSERT_EQ(result.services.size(), 2u);
  GpuCount gpus = 0;
  std::int64_t cost = 0;
  for (const ServicePlan& service : result.services) {
    gpus += service.roles[0].maximum * service.roles[0].gpus_per_replica();
    cost += service.shared_micro_usd_per_hour.value_or(0);
  }
  EXPECT_LE(gpus, 8);
  EXPECT_GT(cost, 54'000'000);
  EXPECT_LE(cost, 60'000'000);
}

TEST(SearchFleets, StartsAtTheMinimumOfTheSpec) {
  PlanSpec spec = sample_specs::small_spec();
  spec.services[0].min_replicas = 3;
  const SearchResult result = found(spec);
  for (const ScalerVariant& variant : result.services.at(0).variants) {
    EXPECT_GE(variant.roles.at(0).minimum, 3) << scaler_word(variant.kind);
  }
}

TEST(SearchFleets, StartsAtTheMinimumOfEachRole) {
  PlanSpec spec = sample_specs::disaggregated_spec();
  spec.services[0].min_prefill_replicas = 1;
  spec.services[0].min_decode_replicas = 4;
  const SearchResult result = found(spec);
  const std::vector<RoleFleet>& roles = result.services.at(0).roles;
  ASSERT_EQ(roles.size(), 2u);
  EXPECT_LT(roles[0].minimum, 4);
  for (const ScalerVariant& variant : result.services[0].variants) {
    EXPECT_GE(variant.roles.at(1).minimum, 4) << scaler_word(variant.kind);
  }
}

TEST(SearchFleets, NamesTheWeightsThatFitNowhere) {
  PlanSpec spec = sample_specs::chat_spec();
  spec.limits.gpus = 1;
  const auto result = search_fleets(spec, {});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::infeasible);
  EXPECT_NE(result.error().message.find("68 GiB of weights"), std::string::npos) << result.error().message;
  EXPECT_NE(result.error().message.find("limits.gpus: 1 GPU"), std::string::npos) << result.error().message;
}

TEST(SearchFleets, OneServiceIsProvedNextToTheJobsOfATenant) {
  PlanSpec spec = sample_specs::small_spec();
  TenantJobs jobs{.name = "evaluate"};
  jobs.load.sizes = {{.pods = 1, .gpus_per_pod = 1}};
  jobs.load.work.median = std::chrono::minutes(5);
  jobs.load.batches = {.count = 3, .at = {}, .interval = {}};
  spec.tenants.push_back(
      {.name = "lab", .kind = TenantSpec::Kind::batch, .priority = 25, .gpu_quota = 2, .jobs = {jobs}});
  const SearchResult result = found(spec);
  ASSERT_TRUE(result.together);
  ASSERT_EQ(result.together->trials.jobs.size(), 1u);
  const TogetherJobs& evaluate = result.together->trials.jobs[0];
  EXPECT_EQ(evaluate.arrived, 3 * result.together->trials.seeds);
  EXPECT_GT(evaluate.ended, 0);
  EXPECT_GT(result.together->trials.jobs_micro_usd_per_hour, 0);
}

TEST(SearchFleets, AJobThatNoPoolHoldsNamesTheQuotaThatItNeeds) {
  PlanSpec spec = sample_specs::small_spec();
  spec.services[0].max_replicas = 6;
  TenantJobs jobs{.name = "train"};
  jobs.load.sizes = {{.pods = 500, .gpus_per_pod = 1}};
  jobs.load.work.median = std::chrono::minutes(5);
  jobs.load.batches = {.count = 1, .at = {}, .interval = {}};
  spec.tenants.push_back({.name = "lab", .kind = TenantSpec::Kind::training, .priority = 50, .jobs = {jobs}});
  spec.places["tenants.1.jobs"] = "s.yaml:9:5";
  const auto result = search_fleets(spec, {});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::infeasible);
  const std::string text = result.error().text();
  EXPECT_TRUE(text.starts_with("s.yaml:9:5: tenants.lab.jobs.train: a job needs 500 nodes with 1 GPU each, ")) << text;
  EXPECT_NE(text.find("the nearest that is possible is gpu_quota: 500 of tenant lab"), std::string::npos) << text;
}

TEST(SearchFleets, AJobOfATenantThatMayHoldNoGpusNamesTheQuotaThatItNeeds) {
  PlanSpec spec = sample_specs::small_spec();
  TenantJobs jobs{.name = "tune"};
  jobs.load.sizes = {{.pods = 1, .gpus_per_pod = 1}};
  jobs.load.work.median = std::chrono::minutes(5);
  jobs.load.batches = {.count = 1, .at = {}, .interval = {}};
  spec.tenants.push_back({.name = "lab", .kind = TenantSpec::Kind::training, .priority = 50, .jobs = {jobs}});
  const auto result = search_fleets(spec, {});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().text(),
            "tenants.lab.jobs.tune: a job needs 1 GPU, 1 more than the 0 that its tenant may hold, because the tenants "
            "with services are entitled to the rest; the nearest that is possible is gpu_quota: 1 of tenant lab");
  spec.tenants.back().gpu_quota = 1;
  EXPECT_TRUE(search_fleets(spec, {}));
}

TEST(SearchFleets, TooManyJobsAreAnErrorWithTheirPlace) {
  PlanSpec spec = sample_specs::small_spec();
  TenantJobs jobs{.name = "flood"};
  jobs.load.rate.per_hour = 1e6;
  spec.tenants.push_back({.name = "lab", .jobs = {jobs}});
  spec.places["tenants.1.jobs"] = "s.yaml:9:3";
  const auto result = search_fleets(spec, {});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().text(),
            "s.yaml:9:3: tenants.lab.jobs.flood.arrivals: found about 333333 jobs in the 20 min of the simulated load, "
            "expected at most 10000");
}

}  // namespace
}  // namespace capstan::plan
