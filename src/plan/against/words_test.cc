#include "plan/against/words.h"

#include <gtest/gtest.h>

namespace capstan::plan {
namespace {

TEST(AgainstWords, SayWhatTheChangesBring) {
  const std::vector<ScalerRow> rows = {{"HPA chat as it is", 982'000, 50'000'000, false},
                                       {"the plan's HPA", 996'000, 40'000'000, true}};
  EXPECT_EQ(scaler_conclusion(rows),
            "the plan's HPA: 99.6 % of requests met instead of 98.2 %, for 7,300 USD/month less");
  EXPECT_EQ(scaler_conclusion({rows[0], {"the plan's HPA", 996'000, 50'000'000, true}}),
            "the plan's HPA: 99.6 % of requests met instead of 98.2 %, for the same cost");
  const ScalerRow dear{"HPA chat as it is", 996'000, 20'000'000};
  EXPECT_EQ(scaler_conclusion({dear, {"the plan's HPA", 996'000, 10'000'000}}),
            "the plan's HPA: as many requests met, for 7,300 USD/month less");
}

TEST(AgainstWords, CompareWithThePlansObjectOfTheSameKind) {
  Plan plan;
  plan.spec.services = {{.name = "chat"}};
  ServicePlan service{.service = "chat", .scaler = ScalerKind::capstan};
  service.seeds.push_back({.attainment_ppm = 995'000, .micro_usd = 60'000'000, .simulated = std::chrono::hours(1)});
  service.variants.push_back({.kind = ScalerKind::hpa, .seeds = service.seeds});
  service.variants.back().seeds.front().micro_usd = 50'000'000;
  plan.services.push_back(std::move(service));
  const auto rows = scaler_rows(plan, {.service = "chat", .object = "HorizontalPodAutoscaler chat"});
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0].name, "HorizontalPodAutoscaler chat as it is");
  EXPECT_EQ(rows[1].name, "the plan's HPA");
  EXPECT_EQ(rows[1].micro_usd_per_hour, 50'000'000);
  EXPECT_EQ(rows[2].name, "the plan, with Capstan");
}

TEST(AgainstWords, SayWhetherAChangeSavesOrCosts) {
  EXPECT_EQ(money_words({.micro_usd_per_month = 1'000'000, .formula = "a x b"}),
            (std::pair<std::string, std::string>("saves", "1 USD/month (modelled): a x b")));
  EXPECT_EQ(money_words({.micro_usd_per_month = -2'000'000})->first, "costs");
  EXPECT_EQ(money_words({.micro_usd_per_month = 3'000'000, .is_at_most = true})->second,
            "up to 3 USD/month (modelled)");
  EXPECT_EQ(money_words({.micro_usd_per_month = 4'000'000, .evidence = Evidence::assumed})->second,
            "4 USD/month (assumed)");
  EXPECT_FALSE(money_words({}));
}

TEST(AgainstWords, CountTheChanges) {
  EXPECT_EQ(count_words({}), "no change");
  EXPECT_EQ(count_words({{.saving = {.micro_usd_per_month = 1, .removed_risk = "a"}}, {.kind = Difference::Kind::add}}),
            "2 changes: 1 saves money, 1 matches the plan; 1 adds an object");
  EXPECT_EQ(count_words({{.saving = {.removed_risk = "a"}},
                         {.kind = Difference::Kind::add, .saving = {.removed_risk = "a"}},
                         {.kind = Difference::Kind::remove, .saving = {.removed_risk = "a"}},
                         {.path = "spec.a"}}),
            "4 changes: 3 avoid a risk, 1 matches the plan; 1 adds an object and 1 deletes one");
}

}  // namespace
}  // namespace capstan::plan
