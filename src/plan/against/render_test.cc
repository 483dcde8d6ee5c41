#include "plan/against/render.h"

#include <gtest/gtest.h>

namespace capstan::plan {
namespace {

Plan plan_at(std::int64_t micro_usd_of_an_hour) {
  Plan plan;
  ServicePlan service{.service = "chat"};
  service.seeds.push_back(
      {.attainment_ppm = 993'000, .micro_usd = micro_usd_of_an_hour, .simulated = std::chrono::hours(1)});
  plan.services.push_back(std::move(service));
  return plan;
}

TEST(AgainstText, GivesPlaceFoundPlannedAndReason) {
  const Difference change{.file = "pool.yaml",
                          .line = 7,
                          .object = "NodePool h100",
                          .path = "spec.limits",
                          .found = "",
                          .planned = "nvidia.com/gpu: 64",
                          .why = "a bound on the bill"};
  EXPECT_EQ(render_against_text(plan_at(0), {change}, {}),
            "pool.yaml:7: NodePool h100: spec.limits is not set, planned nvidia.com/gpu: 64: a bound on the bill\n1 "
            "change\n");
}

TEST(AgainstText, SaysWhatTheExistingAutoscalerCosts) {
  const ExistingScaler scaler{
      .service = "chat", .object = "ScaledObject chat", .attainment_ppm = 910'000, .micro_usd_per_hour = 50'000'000};
  EXPECT_EQ(
      render_against_text(plan_at(40'000'000), {}, {scaler}),
      "ScaledObject chat on this load: at least 91.0 % of requests met for 50.00 USD/h; the plan: 99.3 % for 40.00 "
      "USD/h, 7,300.00 USD/month less\nno change\n");
}

TEST(AgainstText, SaysWhyAnAutoscalerWasNotSimulated) {
  const ExistingScaler scaler{.service = "chat", .object = "ScaledObject chat", .refused = "hpa.yaml:3: no"};
  EXPECT_EQ(render_against_text(plan_at(0), {}, {scaler}),
            "ScaledObject chat cannot be simulated: hpa.yaml:3: no\nno change\n");
}

TEST(AgainstJson, HasTheSameFigures) {
  const ExistingScaler scaler{
      .service = "chat", .object = "ScaledObject chat", .attainment_ppm = 910'000, .micro_usd_per_hour = 50'000'000};
  const std::string json = render_against_json(plan_at(40'000'000), {}, {scaler});
  EXPECT_NE(json.find("\"planned_usd_per_hour\": 40.0"), json.npos);
}

}  // namespace
}  // namespace capstan::plan
