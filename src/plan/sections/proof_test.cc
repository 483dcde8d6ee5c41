#include <gtest/gtest.h>

#include "plan/sections/sections.h"

namespace capstan::plan {
namespace {

using namespace std::chrono_literals;

Trial proof_trial(const std::string& name, std::int64_t attainment_ppm) {
  return {.name = name,
          .attainment_ppm = attainment_ppm,
          .requests = 1200,
          .ttft_p99 = 500ms,
          .tpot_p99 = 20ms,
          .micro_usd = 55'040'000,
          .simulated = 1h};
}

ServicePlan proven_service() {
  ServicePlan service{.service = "chat", .holds_slo = true};
  service.seeds = {proof_trial("seed 1", 995'000), proof_trial("seed 2", 991'000)};
  service.robustness = {proof_trial("1.5 times the load", 900'000)};
  service.frontier = {
      {.fleet = "small", .attainment_ppm = 900'000, .micro_usd_per_hour = 10'000'000, .is_efficient = true},
      {.fleet = "worse", .attainment_ppm = 800'000, .micro_usd_per_hour = 20'000'000},
      {.fleet = "plan",
       .attainment_ppm = 991'000,
       .micro_usd_per_hour = 55'040'000,
       .holds_slo = true,
       .is_efficient = true,
       .seeds = 5}};
  service.not_simulated = "jobs of other tenants";
  return service;
}

std::string proof_value(const Section& section, std::string_view name) {
  for (const Statement& statement : section.statements) {
    if (statement.name == name) return statement.value + " | " + statement.why;
  }
  return "no statement";
}

PlanSpec proof_spec() {
  PlanSpec spec;
  spec.services.push_back({.name = "chat"});
  spec.services[0].slo.attainment_ppm = 990'000;
  return spec;
}

TEST(ProofSection, StatesEverySeedAndWhatWasTried) {
  const PlanSpec spec = proof_spec();
  const std::vector<ServicePlan> services = {proven_service()};
  const Section section = proof_section({spec, services, 42});
  EXPECT_EQ(section.answer, "chat (Capstan) held the SLO under 2 seeds.");
  EXPECT_EQ(proof_value(section, "lowest attainment"),
            "99.1 % met | seed 1 99.5 %, seed 2 99.1 %; the SLO asks for 99.0 %");
  EXPECT_EQ(proof_value(section, "seed 1"),
            "99.5 % met | 1,200 requests, P99 of TTFT 0.50 s, P99 of TPOT 20.0 ms, 55.04 USD/h");
  EXPECT_EQ(proof_value(section, "1.5 times the load").substr(0, 42), "90.0 % met | misses the SLO of 99.0 %; 1,2");
  EXPECT_EQ(proof_value(section, "frontier point 1"),
            "90.0 % met for 10.00 USD/h | small; misses the SLO in one simulation");
  EXPECT_EQ(proof_value(section, "frontier point 2"),
            "99.1 % met for 55.04 USD/h | plan; holds the SLO in 5 simulations");
  EXPECT_EQ(proof_value(section, "simulations").substr(0, 5), "42 | ");
  EXPECT_EQ(section.commands, std::vector<std::string>{"capstan compare scenario-chat.yaml"});
  EXPECT_EQ(section.not_simulated, std::vector<std::string>{"jobs of other tenants"});
}

TEST(ProofSection, StatesWhatAllServicesShowedOnOneCluster) {
  PlanSpec spec = proof_spec();
  spec.services.push_back({.name = "code"});
  std::vector<ServicePlan> services = {proven_service(), proven_service()};
  services[0].not_simulated = services[1].not_simulated = "";
  TogetherProof together{.trials = {.seeds = 2, .micro_usd_per_hour = 70'000'000}};
  together.trials.services = {
      {.service = "chat", .attainment_ppm = {995'000, 992'000}, .ttft_p99 = 500ms, .tpot_p99 = 20ms},
      {.service = "code", .attainment_ppm = {970'000, 999'000}, .holds_slo = false}};
  const PlanFacts facts{.spec = spec, .services = services, .together = &together};
  const Section section = proof_section(facts);
  EXPECT_EQ(proof_value(section, "chat on one cluster with all services"),
            "99.2 % met | seed 1 99.5 %, seed 2 99.2 %; holds the SLO of 99.0 %; P99 of TTFT 0.50 s, P99 of TPOT "
            "20.0 ms");
  EXPECT_EQ(proof_value(section, "code on one cluster with all services").substr(0, 10), "97.0 % met");
  EXPECT_EQ(proof_value(section, "all services on one cluster").substr(0, 11), "70.00 USD/h");
  EXPECT_EQ(section.commands.back(), "capstan compare together.yaml");
  EXPECT_TRUE(section.not_simulated.empty());
  EXPECT_EQ(proof_section({spec, services}).not_simulated.size(), 1u) << "without this proof, the page says so";
  together.trials.jobs = {{.tenant = "lab", .name = "lab", .arrived = 4, .ended = 3}};
  const Section with_jobs = proof_section(facts);
  EXPECT_EQ(proof_value(with_jobs, "jobs of lab on one cluster").substr(0, 17), "1.5 of 2.0 ended ");
  EXPECT_EQ(proof_value(with_jobs, "all services and jobs on one cluster").substr(0, 11), "70.00 USD/h");
}

TEST(ProofSection, SaysThatNoFleetHoldsTheSlo) {
  const PlanSpec spec = proof_spec();
  std::vector<ServicePlan> services = {proven_service()};
  services[0].holds_slo = false;
  EXPECT_EQ(proof_section({spec, services}).answer,
            "No fleet that was simulated holds the SLO of chat (Capstan); the plan has the one that meets most.");
}

}  // namespace
}  // namespace capstan::plan
