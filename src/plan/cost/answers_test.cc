#include "plan/cost/answers.h"

#include <gtest/gtest.h>

namespace capstan::plan {
namespace {

using namespace std::chrono_literals;

constexpr GpuPrice kTenUsd{.per_hour = MicroUsd{10'000'000}, .evidence = Evidence::stated};

TEST(CostAnswers, ASumHasCentsOnlyBelowAThousandUsd) {
  EXPECT_EQ(usd_sum(999'990'000), "999.99");
  EXPECT_EQ(usd_sum(1'000'000'000), "1,000");
  EXPECT_EQ(usd_sum(39'722'650'000), "39,723");
}

TEST(Cost, OfAWarmPoolIsReplicasTimesGpusTimesPriceTimesHours) {
  const Statement cost = warm_pool_cost({.replicas = 2, .gpus_per_replica = 4, .price = kTenUsd});
  EXPECT_EQ(cost.value, "58,400 USD/month");
  EXPECT_EQ(cost.why, "2 replicas x 4 GPUs x 10.00 USD for a GPU-hour x 730 h");
}

TEST(Cost, OfIdleGpusIsTheirShareOfTheBill) {
  const Statement cost = idle_cost({.paid_micro_usd_per_hour = 100'000'000, .idle_ppm = 250'000});
  EXPECT_EQ(cost.value, "18,250 USD/month");
  EXPECT_EQ(cost.why, "25.0 % of the paid GPU time does no work: 100.00 USD/h x 25.0 % x 730 h");
}

TEST(Cost, OfTheConsolidationTrapIsGpuTimeAndRequests) {
  const auto cost = consolidation_cost({.replicas_ended_per_day = 60,
                                        .cold_start = 6min,
                                        .gpus_per_replica = 4,
                                        .price = kTenUsd,
                                        .requests_per_s = 3,
                                        .replicas = 2,
                                        .per_lost_request = MicroUsd{10'000}});
  ASSERT_EQ(cost.size(), 2u);
  EXPECT_EQ(cost[0].value, "87,600 USD/year of GPU time");  // 60 x 365 starts of 4 USD each
  EXPECT_EQ(cost[1].value, "up to 32,400 a day, 118,260 USD/year");
}

TEST(Cost, OfTheConsolidationTrapSaysNothingOfRequestsWhoseRateIsUnknown) {
  EXPECT_EQ(consolidation_cost({.cold_start = 6min, .price = kTenUsd}).size(), 1u);
}

TEST(Cost, OfTheConsolidationTrapIsAssumedUnlessTheNumberOfReplicasIsStated) {
  const Statement assumed = consolidation_cost({.cold_start = 6min, .price = kTenUsd}).front();
  EXPECT_EQ(assumed.evidence, Evidence::assumed);
  EXPECT_TRUE(assumed.why.starts_with("WhenEmptyOrUnderutilized ends an assumed 60 running replicas a day x "))
      << assumed.why;
  const Statement stated =
      consolidation_cost({.replicas_ended_per_day = 60, .cold_start = 6min, .price = kTenUsd}).front();
  EXPECT_EQ(stated.evidence, Evidence::modelled);
  EXPECT_EQ(stated.value, assumed.value);
}

TEST(Cost, OfServerlessBreaksEvenWhereBothCostTheSame) {
  ServerlessInput input{.gpu_micro_usd_per_hour = 20'000'000, .gpu_milli = 1000};
  input.staff = {.per_year = MicroUsd{120'000'000'000}, .share_ppm = 500'000};
  const auto cost = serverless_cost(input);
  ASSERT_EQ(cost.size(), 3u);
  EXPECT_EQ(cost[0].value, "5,000 USD/month");
  EXPECT_EQ(cost[1].value, "19,600 USD/month");
  EXPECT_EQ(cost[2].value, "26.85 USD for a GPU-hour of useful work");  // 19,600 / 730

  input.staff.serverless_per_gpu_hour = MicroUsd{26'840'000};
  EXPECT_EQ(serverless_cost(input).back().value, "19,593 USD/month");
  EXPECT_EQ(serverless_cost(input).back().evidence, Evidence::modelled) << "the spec states the price of an hour only";
}

TEST(Cost, OfAMillionTokensIsTheBillOfTheTimeThatTheyTake) {
  const auto cost = token_cost({.micro_usd_per_hour = 36'000'000, .tokens_per_s = 1000});
  ASSERT_EQ(cost.size(), 2u);
  EXPECT_EQ(cost[0].value, "26,280 USD/month");
  EXPECT_EQ(cost[1].value, "10.00 USD");  // 1000 s at 0.01 USD/s
  EXPECT_EQ(cost[1].why, "36.00 USD/h / (1000 tokens/s x 3,600 s) x 1,000,000");
  EXPECT_EQ(token_cost({.micro_usd_per_hour = 1}).size(), 1u);
}

TEST(Cost, OfServerlessIsNotComparedWithAFleetThatDoesNoWork) {
  EXPECT_EQ(serverless_cost({.gpu_micro_usd_per_hour = 20'000'000}).size(), 2u);
}

}  // namespace
}  // namespace capstan::plan
