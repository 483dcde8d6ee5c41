#include "plan/render/page.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace capstan::plan {
namespace {

using namespace std::chrono_literals;

TEST(Page, WritesTheBoundsOfAnSlo) {
  model::Slo slo{.ttft = 2s, .tpot = 50ms};
  EXPECT_EQ(slo_words(slo), "99.0 % of requests: TTFT at most 2 s, TPOT at most 50 ms");
  slo.ttft_prefills_milli = 3000;
  EXPECT_EQ(slo_words(slo), "99.0 % of requests: TTFT at most 2 s or 3.0 times its prefill, TPOT at most 50 ms");
}

TEST(Page, JoinsDefaultsThatSeveralServicesUse) {
  Plan plan;
  plan.spec.services = {{.name = "chat"}, {.name = "code"}};
  plan.spec.defaults = {{"namespace", "inference", "why"},
                        {"services.chat.engine", "vllm", "why"},
                        {"services.chat.dtype", "fp8", "why"},
                        {"services.code.engine", "vllm", "why"}};
  plan.services = {{.service = "chat"}, {.service = "code"}};
  EXPECT_EQ(page_of(plan).defaults, (std::vector<std::string>{"namespace = inference", "all services: engine = vllm",
                                                              "services.chat: dtype = fp8"}));
  EXPECT_EQ(default_lines(plan).size(), 4u);
}

TEST(Page, OrdersTheCommandsOfAllSectionsByTheirStep) {
  Plan plan;
  plan.sections.push_back({.key = "monitoring"});
  plan.sections.back().apply.push_back({.step = ApplyStep::monitoring, .command = "kubectl apply -f monitoring"});
  plan.sections.push_back({.key = "nodes"});
  plan.sections.back().apply.push_back({.step = ApplyStep::nodes, .command = "kubectl apply -f nodes"});
  plan.sections.back().apply.push_back({.step = ApplyStep::names, .command = "kubectl create namespace a"});
  const Page page = page_of(plan);
  ASSERT_EQ(page.apply.size(), 3u);
  EXPECT_EQ(page.apply[0].command, "kubectl create namespace a");
  EXPECT_EQ(page.apply[2].command, "kubectl apply -f monitoring");
}

TEST(Page, JoinsTheScalersOfSeveralServices) {
  Plan plan;
  plan.sections.push_back({.key = "replicas"});
  for (const char* name : {"a", "b"}) {
    plan.sections.back().apply.push_back(
        {.step = ApplyStep::scaler, .command = fmt::format("kubectl apply -f replicas/keda/{}.yaml", name)});
  }
  const Page page = page_of(plan);
  ASSERT_EQ(page.apply.size(), 1u);
  EXPECT_EQ(page.apply[0].command, "kubectl apply -f replicas/keda/a.yaml -f replicas/keda/b.yaml");
}

TEST(Page, HasOneRowForScalersWithTheSameFigures) {
  Plan plan;
  plan.spec.services = {{.name = "chat"}};
  ServicePlan service{.service = "chat", .scaler = ScalerKind::capstan};
  const std::vector<Trial> seeds = {{.attainment_ppm = 1'000'000, .simulated = 1s}};
  for (const ScalerKind kind : {ScalerKind::capstan, ScalerKind::scaled_object, ScalerKind::hpa}) {
    service.variants.push_back({.kind = kind, .roles = {{.minimum = 1, .maximum = 3}}, .seeds = seeds});
  }
  service.variants.push_back({.kind = ScalerKind::constant, .roles = {{.minimum = 1, .maximum = 1}}, .seeds = seeds});
  plan.services = {service};
  const Page page = page_of(plan);
  ASSERT_EQ(page.scalers.rows.size(), 3u);
  EXPECT_EQ(page.scalers.rows[0].cells[1], "Capstan") << "the chosen one has a row of its own";
  EXPECT_EQ(page.scalers.rows[1].cells[1], "ScaledObject, HPA");
  EXPECT_EQ(page.scalers.rows[2].cells[1], "constant fleet");
}

TEST(Page, RepeatsNoChosenFleetsOfSeveralServices) {
  Plan plan;
  plan.spec.services = {{.name = "chat"}, {.name = "code"}};
  plan.services = {{.service = "chat"}, {.service = "code"}};
  for (ServicePlan& service : plan.services) service.frontier = {{.fleet = "H100", .is_chosen = true}};
  EXPECT_TRUE(page_of(plan).frontier.rows.empty());
  plan.services[1].frontier.push_back({.fleet = "H200"});
  EXPECT_EQ(page_of(plan).frontier.rows.size(), 3u);
}

TEST(Page, ShowsAtMostFourFleetsTheCheapestFirst) {
  Plan plan;
  plan.spec.services = {{.name = "chat"}};
  plan.services = {{.service = "chat"}};
  for (std::int64_t i = 0; i < 9; ++i) {
    plan.services[0].frontier.push_back(
        {.fleet = std::to_string(i), .micro_usd_per_hour = i * 1'000'000, .is_efficient = i == 8});
  }
  const Page page = page_of(plan);
  ASSERT_EQ(page.frontier.rows.size(), 4u);
  EXPECT_EQ(page.frontier.rows[0].cells[1], "0");
  EXPECT_EQ(page.frontier.rows[3].cells[1], "8") << "an efficient fleet is shown";
}

TEST(Page, MarksOnlyTheChosenFleetOfSeveralThatCostTheSame) {
  Plan plan;
  plan.spec.services = {{.name = "chat"}};
  plan.services = {{.service = "chat"}};
  plan.services[0].frontier = {{.fleet = "tensor parallel 8"}, {.fleet = "tensor parallel 4", .is_chosen = true}};
  const Page page = page_of(plan);
  ASSERT_EQ(page.frontier.rows.size(), 2u);
  EXPECT_FALSE(page.frontier.rows[0].is_chosen);
  EXPECT_TRUE(page.frontier.rows[1].is_chosen);
}

TEST(Page, TellsAMissFromTheSloAndAConstantFleetFromAScaledOne) {
  Plan plan;
  plan.spec.services = {{.name = "chat"}};
  plan.spec.services[0].slo.attainment_ppm = 990'000;
  RoleFleet role{.minimum = 2, .maximum = 7};
  role.engine.model = "Llama-3.3-70B";
  ServicePlan service{.service = "chat"};
  service.roles = {role};
  service.scaler = ScalerKind::constant;
  service.robustness = {{.name = "a zone lost", .attainment_ppm = 989'600}};
  plan.services = {service};
  const PageHeadline headline = page_of(plan).headlines.at(0);
  EXPECT_TRUE(headline.fleet.starts_with("2 replicas of ")) << headline.fleet;
  EXPECT_EQ(headline.lines.back().second, "misses with a zone lost (98.96 %)");
}

}  // namespace
}  // namespace capstan::plan
