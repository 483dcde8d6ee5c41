#include "plan/against/saving.h"

#include <gtest/gtest.h>

namespace capstan::plan {
namespace {

/// Returns a plan of one service on p5.48xlarge. On average, it pays for 10 GPUs at 8 USD for a GPU-hour.
Plan plan_of_chat() {
  Plan plan;
  plan.spec.services = {{.name = "chat"}};
  RoleFleet role{.minimum = 2, .maximum = 4};
  role.engine.gpu = "h100_sxm";
  role.engine.tp = 2;
  role.machine = {.name = "p5.48xlarge",
                  .gpu = "h100_sxm",
                  .gpus = 8,
                  .on_demand_per_hour = MicroUsd{64'000'000},
                  .spot_per_hour = MicroUsd{32'000'000}};
  ServicePlan service{.service = "chat"};
  service.roles.push_back(role);
  service.seeds.push_back({.simulated = std::chrono::hours(1), .paid_gpu_ns = 10ll * 3'600'000'000'000});
  plan.services.push_back(std::move(service));
  Section cost{.key = "cost"};
  cost.statements.push_back({.name = "consolidation trap",
                             .value = "a lot",
                             .why = "60 a day",
                             .evidence = Evidence::assumed,
                             .trap_micro_usd_per_year = 6'000'000'000});
  plan.sections.push_back(std::move(cost));
  return plan;
}

Manifest saved_object(const std::string& kind, const std::string& name) {
  Yaml body = Yaml::map({{"kind", kind}});
  body["metadata"].set("name", name);
  return {.file = "a.yaml", .body = std::move(body)};
}

Saving saving_in_chat(const std::string& kind, const std::string& name, Difference change) {
  change.object = kind + " " + name;
  return saving_of(plan_of_chat(), saved_object(kind, name), change);
}

TEST(Saving, OfAMinimumIsReplicasTimesThePrice) {
  const Saving less = saving_in_chat("HorizontalPodAutoscaler", "chat",
                                     {.path = "spec.minReplicas", .found = Yaml(5), .planned = Yaml(2)});
  EXPECT_EQ(less.micro_usd_per_month, 3ll * 2 * 8'000'000 * 730);
  EXPECT_EQ(less.removed_risk, "") << "fewer ready replicas do not make a burst safer";
  const Saving more = saving_in_chat("ScaledObject", "chat", {.path = "spec.minReplicaCount", .planned = Yaml(2)});
  EXPECT_EQ(more.micro_usd_per_month, -2ll * 2 * 8'000'000 * 730);
  EXPECT_EQ(more.removed_risk, "a burst that begins with too few ready replicas");
}

TEST(Saving, OfAMinimumOfAnInferenceScalerIsThatOfItsRole) {
  const Difference change{.path = "spec.roles.0.variants.0.minReplicas", .found = Yaml(5), .planned = Yaml(2)};
  EXPECT_EQ(saving_in_chat("InferenceScaler", "chat", change).micro_usd_per_month, 3ll * 2 * 8'000'000 * 730);
  Difference unknown = change;
  unknown.path = "spec.roles.1.variants.0.minReplicas";
  EXPECT_FALSE(saving_in_chat("InferenceScaler", "chat", unknown).micro_usd_per_month);
}

TEST(Saving, OfConsolidationIsThatOfTheSectionOnCost) {
  const Saving found = saving_in_chat("NodePool", "h100",
                                      {.path = "spec.disruption.consolidationPolicy",
                                       .found = Yaml("WhenEmptyOrUnderutilized"),
                                       .planned = Yaml("WhenEmpty")});
  EXPECT_EQ(found.micro_usd_per_month, 500'000'000);
  EXPECT_EQ(found.formula, "a lot / 12 months: 60 a day");
  EXPECT_EQ(found.evidence, Evidence::assumed) << "nothing measured how many replicas Karpenter would end";
  EXPECT_EQ(found.removed_risk, "a replica that is ended while it answers");
}

TEST(Saving, OfALimitIsNothingButABound) {
  const Saving found =
      saving_in_chat("NodePool", "h100", {.path = "spec.limits", .planned = Yaml::map({{"nvidia.com/gpu", 16}})});
  EXPECT_FALSE(found.micro_usd_per_month);
  EXPECT_EQ(found.formula, "nothing while all is well; bounds the pool at 128.00 USD/h");
}

TEST(Saving, OfSpotIsThatOfTheGpusAboveTheMinimum) {
  // The minimum needs one node of 8 GPUs, so 2 of the 10 paid GPUs could be spot.
  EXPECT_EQ(saving_in_chat("NodePool", "h100-spot", {.kind = Difference::Kind::add}).micro_usd_per_month,
            2ll * 4'000'000 * 730);
}

TEST(Saving, OfACapacityTypeIsTheDifferenceOfThePrices) {
  const std::string path = "spec.template.spec.requirements.karpenter.sh/capacity-type.values";
  const Yaml spot = Yaml::list({Yaml("spot"), Yaml("on-demand")}), on_demand = Yaml::list({Yaml("on-demand")});
  // 10 GPUs are paid on average, at 4 USD for a GPU-hour as spot and 8 USD on demand.
  const Saving costs = saving_in_chat("NodePool", "h100", {.path = path, .found = spot, .planned = on_demand});
  EXPECT_EQ(costs.micro_usd_per_month, -10ll * 4'000'000 * 730);
  EXPECT_EQ(costs.removed_risk, "replicas of the minimum that a reclaim ends");
  EXPECT_EQ(costs.formula,
            "a GPU-hour of p5.48xlarge costs 4.00 USD as spot and 8.00 USD as on-demand; x 10.0 paid GPUs on average x "
            "730 h");
  const Saving saves = saving_in_chat("NodePool", "h100", {.path = path, .found = on_demand, .planned = spot});
  EXPECT_EQ(saves.micro_usd_per_month, 10ll * 4'000'000 * 730);
  EXPECT_FALSE(saving_in_chat("NodePool", "h100", {.path = path, .planned = on_demand}).micro_usd_per_month)
      << "a pool without the requirement buys on demand";
}

TEST(Saving, IsARiskWhereThereIsNoAmount) {
  const Saving found =
      saving_in_chat("Deployment", "chat", {.path = "spec.template.spec.terminationGracePeriodSeconds"});
  EXPECT_FALSE(found.micro_usd_per_month);
  EXPECT_EQ(found.removed_risk, "answers that are cut when a replica ends");
  EXPECT_EQ(found.grade, 1);
}

TEST(AgainstSaving, WholeSignalsAreAsGraveAsCutRequestsAndThresholdsAreNot) {
  const Yaml metric = Yaml::map({{"type", "External"}});
  const Difference removed{.path = "spec.metrics.DCGM_FI_DEV_GPU_UTIL", .found = metric};
  const Difference added{.path = "spec.metrics.vllm_num_requests_waiting", .planned = metric};
  const Difference changed{
      .path = "spec.metrics.vllm_num_requests_waiting.external.target", .found = metric, .planned = metric};
  EXPECT_EQ(saving_in_chat("HorizontalPodAutoscaler", "chat", removed).grade, 1);
  EXPECT_EQ(saving_in_chat("HorizontalPodAutoscaler", "chat", added).grade, 1);
  EXPECT_EQ(saving_in_chat("HorizontalPodAutoscaler", "chat", changed).grade, 2);
}

}  // namespace
}  // namespace capstan::plan
