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
  plan.spec.defaults = {{"namespace", "inference", "why", DefaultKind::name},
                        {"services.chat.image", "vllm:1", "why", DefaultKind::name},
                        {"services.code.image", "vllm:2", "why", DefaultKind::name},
                        {"limits", "none", "why"},
                        {"services.chat.engine", "vllm", "why"},
                        {"services.chat.dtype", "fp8", "why"},
                        {"services.code.engine", "vllm", "why"},
                        {"services.code.disaggregated", "false", "why"}};
  plan.services = {{.service = "chat"}, {.service = "code"}};
  EXPECT_EQ(page_of(plan).defaults,
            (std::vector<std::string>{"limits = none", "all services: engine = vllm", "services.chat: dtype = fp8"}))
      << "names, addresses and features that are off are in the details";
  EXPECT_EQ(default_lines(plan).size(), 8u);
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

TEST(Page, HasOneRowOfScalersForEachOfSeveralServices) {
  Plan plan;
  plan.spec.services = {{.name = "chat"}, {.name = "code"}};
  const auto variant = [](ScalerKind kind, std::int64_t micro_usd, bool holds_slo) {
    return ScalerVariant{.kind = kind, .seeds = {{.micro_usd = micro_usd, .simulated = 1h}}, .holds_slo = holds_slo};
  };
  ServicePlan chat{.service = "chat", .scaler = ScalerKind::hpa};
  chat.variants = {variant(ScalerKind::capstan, 3'000'000, false), variant(ScalerKind::hpa, 4'000'000, true)};
  plan.services = {chat, {.service = "code"}};
  const PageTable table = page_of(plan).scalers;
  EXPECT_EQ(table.columns,
            (std::vector<std::string>{"", "service, USD/h alone", "Capstan", "ScaledObject", "HPA", "constant fleet"}));
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(table.rows[0].cells,
            (std::vector<std::string>{"", "chat", "3.00, misses", "not simulated", "▶ 4.00", "not simulated"}));
}

TEST(Page, RepeatsNoChosenFleetsOfSeveralServices) {
  Plan plan;
  plan.spec.services = {{.name = "chat"}, {.name = "code"}};
  plan.services = {{.service = "chat"}, {.service = "code"}};
  for (ServicePlan& service : plan.services) service.frontier = {{.short_fleet = "H100", .is_chosen = true}};
  EXPECT_TRUE(page_of(plan).frontier.rows.empty());
  plan.services[1].frontier.push_back({.short_fleet = "H200"});
  EXPECT_EQ(page_of(plan).frontier.rows.size(), 3u);
}

TEST(Page, ShowsAtMostFourFleetsTheCheapestFirst) {
  Plan plan;
  plan.spec.services = {{.name = "chat"}};
  plan.services = {{.service = "chat"}};
  for (std::int64_t i = 0; i < 9; ++i) {
    plan.services[0].frontier.push_back(
        {.short_fleet = std::to_string(i), .micro_usd_per_hour = i * 1'000'000, .is_efficient = i == 8});
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
  plan.services[0].frontier = {{.short_fleet = "TP 8"}, {.short_fleet = "TP 4", .is_chosen = true}};
  const Page page = page_of(plan);
  ASSERT_EQ(page.frontier.rows.size(), 2u);
  EXPECT_FALSE(page.frontier.rows[0].is_chosen);
  EXPECT_TRUE(page.frontier.rows[1].is_chosen);
}

TEST(Page, ShowsAMissOfTheSloAndAConstantFleet) {
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
  EXPECT_EQ(headline.lines.back().second, "with the constant fleet: misses the SLO: a zone lost (98.96 %)");
  const auto line = std::ranges::find(headline.lines, "autoscaler", &std::pair<std::string, std::string>::first);
  ASSERT_NE(line, headline.lines.end());
  EXPECT_TRUE(line->second.starts_with("none: spec.replicas of the workload states the size")) << line->second;
}

TEST(Page, NamesTheScalerOfEveryStressTest) {
  Plan plan;
  plan.spec.services = {{.name = "chat"}};
  plan.spec.services[0].slo.attainment_ppm = 990'000;
  ServicePlan service{.service = "chat"};
  service.roles = {RoleFleet{.minimum = 2, .maximum = 7}};
  service.scaler = ScalerKind::constant;
  service.robustness = {{.name = "1.5 times the load", .attainment_ppm = 937'000},
                        {.name = "1.5 times the load under Capstan", .attainment_ppm = 999'000}};
  plan.services = {service};
  EXPECT_EQ(page_of(plan).headlines.at(0).lines.back().second,
            "with the constant fleet, unless a test names another policy: misses the SLO: 1.5 times the load (93.7 %); "
            "holds the SLO: 1.5 times the load under Capstan (99.9 %)");
  plan.services[0].scaler = ScalerKind::capstan;
  plan.services[0].robustness.pop_back();
  EXPECT_EQ(page_of(plan).headlines.at(0).lines.back().second,
            "under Capstan: misses the SLO: 1.5 times the load (93.7 %)");
}

TEST(Page, NamesTheRegionOfThePricesBesideTheCost) {
  Plan plan;
  plan.spec.services = {{.name = "chat"}};
  plan.spec.cluster.cloud = Cloud::aws;
  plan.spec.cluster.region = "us-west-9";
  plan.spec.defaults = {{"cluster.instances.usd_per_hour", "prices of us-east-1", "the catalogue has none"}};
  ServicePlan service{.service = "chat"};
  service.roles = {RoleFleet{.minimum = 2, .maximum = 7}};
  plan.services = {service};
  const Page page = page_of(plan);
  const auto& lines = page.headlines.at(0).lines;
  ASSERT_GE(lines.size(), 3u);
  EXPECT_EQ(lines[0].first, "cost");
  EXPECT_EQ(lines[1],
            std::pair(std::string("prices"), std::string("prices of us-east-1, because the catalogue has none")));
  EXPECT_EQ(lines[2].first, "region");
  EXPECT_TRUE(lines[2].second.contains("did you mean us-west-1?")) << lines[2].second;
}

TEST(Page, SaysWhichMinimumHoldsTheLossOfAZone) {
  Plan plan;
  plan.spec.services = {{.name = "chat"}};
  RoleFleet role{.minimum = 2, .maximum = 7};
  ServicePlan service{.service = "chat", .roles = {role}, .holds_slo = true};
  service.seeds = {{.attainment_ppm = 999'000, .micro_usd = 55'040'000, .simulated = 1h}};
  service.lost_zone = "us-east-1a";
  service.zone_loss = {.roles = {{.minimum = 4, .maximum = 7}}, .micro_usd_per_hour = 110'080'000, .holds_slo = true};
  service.zone_loss->trial.attainment_ppm = 993'000;
  plan.services = {service};
  EXPECT_EQ(
      page_of(plan).headlines.at(0).lines.back(),
      std::pair(std::string("zone loss"), std::string("holds with 4 replicas: simulated 99.3 %, 110.08 USD/h; --set "
                                                      "services.0.min_replicas=4")));
  plan.services[0].zone_loss->holds_slo = false;
  EXPECT_EQ(page_of(plan).headlines.at(0).lines.back().second,
            "no minimum that was tried holds the SLO; 4 replicas meet 99.3 % for 110.08 USD/h (simulated)");
}

TEST(Page, SaysHowToSetTheMinimumOfEachRole) {
  Plan plan;
  plan.spec.services = {{.name = "chat"}};
  ServicePlan service{
      .service = "chat", .roles = {{.role = model::Role::prefill}, {.role = model::Role::decode}}, .holds_slo = true};
  service.zone_loss = {.roles = {{.minimum = 4, .maximum = 7}, {.minimum = 2, .maximum = 3}}, .holds_slo = true};
  plan.services = {service};
  const std::string line = page_of(plan).headlines.at(0).lines.back().second;
  EXPECT_TRUE(line.ends_with("; --set services.0.min_prefill_replicas=4 --set services.0.min_decode_replicas=2"))
      << line;
}

}  // namespace
}  // namespace capstan::plan
