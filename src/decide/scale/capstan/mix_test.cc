// Goal: the chosen mix is the cheapest that carries the need. Method: mixes that can be checked by hand, then
// comparison with an exhaustive search.
#include "decide/scale/capstan/mix.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <tuple>

namespace capstan::decide::scale {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using Numbers = std::vector<ReplicaCount>;

constexpr MixTerms kTerms{.horizon = hours(1), .lead = minutes(2)};

// An expensive variant with worth 1, and one with worth 0.25 for less than a quarter of the price.
MixOption expensive(ReplicaCount current) { return {.worth_milli = 1000, .price = 8, .current = current, .most = 20}; }
MixOption cheap(ReplicaCount current, ReplicaCount most) {
  return {.worth_milli = 250, .price = 1, .current = current, .most = most};
}

TEST(CheapestMix, TakesTheCheapVariantAsFarAsItGoes) {
  const MixOption options[] = {expensive(0), cheap(0, 6)};
  const Mix mix = cheapest_mix(options, 3'000, kTerms);
  EXPECT_EQ(mix.replicas,
            (Numbers{2, 4}));  // six cheap replicas would leave 1.5 for the expensive variant, which also takes 2
  EXPECT_EQ(mix.price, 20);
  EXPECT_EQ(mix.worth_milli, 3'000);
  EXPECT_TRUE(mix.covers);
}

TEST(CheapestMix, ForOneVariantIsTheRatioRoundedUp) {
  const MixOption options[] = {expensive(3)};
  EXPECT_EQ(cheapest_mix(options, 3'001, kTerms).replicas, (Numbers{4}));
  EXPECT_EQ(cheapest_mix(options, 1'500, kTerms).replicas, (Numbers{2}));
}

TEST(CheapestMix, SwitchesIfAnHourSavesMoreThanTheOverlapCosts) {
  const MixOption options[] = {expensive(2), cheap(0, 20)};
  EXPECT_EQ(cheapest_mix(options, 2'000, kTerms).replicas, (Numbers{0, 8}));  // 16 per hour against 8
}

TEST(CheapestMix, KeepsTheRunningMixIfASwitchCostsMoreThanItSaves) {
  // 16 against 15 per hour saves 1, and the overlap of both costs 31 x 2/60 = 1.03.
  const MixOption options[] = {
      expensive(2), {.worth_milli = 1000, .price = 15, .most = 1}, {.worth_milli = 2000, .price = 15, .most = 4}};
  EXPECT_EQ(cheapest_mix(options, 2'000, kTerms).replicas, (Numbers{2, 0, 0}));
  // With a shorter lead time the switch pays.
  EXPECT_EQ(cheapest_mix(options, 2'000, {.horizon = hours(1), .lead = minutes(1)}).replicas, (Numbers{0, 0, 1}));
}

TEST(CheapestMix, StopsTheExpensiveVariantFirst) {
  const MixOption options[] = {expensive(2), cheap(8, 8)};
  EXPECT_EQ(cheapest_mix(options, 2'500, kTerms).replicas, (Numbers{1, 6}));
  EXPECT_EQ(cheapest_mix(options, 2'000, kTerms).replicas, (Numbers{0, 8}));
}

TEST(CheapestMix, AVariantOutOfReachCarriesNothing) {
  const MixOption options[] = {expensive(0), {.worth_milli = 0, .price = 1, .current = 5, .least = 1, .most = 20}};
  EXPECT_EQ(cheapest_mix(options, 2'000, kTerms).replicas, (Numbers{2, 1}));
}

TEST(CheapestMix, TakesEverythingAvailableIfNoMixCarriesTheNeed) {
  const MixOption options[] = {expensive(1), cheap(0, 6), {.worth_milli = 0, .price = 1, .most = 9}};
  const Mix mix = cheapest_mix(options, 90'000, kTerms);
  EXPECT_EQ(mix.replicas, (Numbers{20, 6, 0}));
  EXPECT_FALSE(mix.covers);
}

TEST(CheapestMix, PrefersTheFirstVariantAmongEquals) {
  const MixOption same{.worth_milli = 1000, .price = 5, .most = 9};
  const MixOption options[] = {same, same, same};
  EXPECT_EQ(cheapest_mix(options, 4'000, kTerms).replicas, (Numbers{4, 0, 0}));
  const MixOption runs[] = {same, {.worth_milli = 1000, .price = 5, .current = 2, .most = 9}};
  EXPECT_EQ(cheapest_mix(runs, 2'000, kTerms).replicas, (Numbers{0, 2})) << "a running variant comes first";
}

TEST(CheapestMix, ReplicasAloneIsTheCountForOneVariant) {
  EXPECT_EQ(replicas_alone(cheap(0, 20), 1'100), 5);
  EXPECT_EQ(replicas_alone(cheap(0, 4), 1'100), std::nullopt);
  EXPECT_EQ(replicas_alone({.worth_milli = 0, .price = 1, .most = 9}, 1), std::nullopt);
}

/// Tries every count of every variant and returns the best.
Numbers exhaustive(const std::vector<MixOption>& options, std::int64_t needed, const MixTerms& terms) {
  Numbers at, best;
  for (const MixOption& option : options) at.push_back(option.least);
  const auto rank = [&](const Numbers& replicas) {
    ReplicaCount changes = 0, all = 0;
    Numbers fewer;
    for (std::size_t i = 0; i < replicas.size(); ++i) {
      changes += std::abs(replicas[i] - options[i].current);
      all += replicas[i];
      fewer.push_back(-replicas[i]);
    }
    return std::tuple(mix_cost(options, replicas, terms), changes, all, fewer);
  };
  while (true) {
    std::int64_t worth = 0;
    for (std::size_t i = 0; i < at.size(); ++i) worth += at[i] * options[i].worth_milli;
    if (worth >= needed && (best.empty() || rank(at) < rank(best))) best = at;
    std::size_t i = 0;
    for (; i < at.size(); ++i) {
      if (++at[i] <= options[i].most) break;
      at[i] = options[i].least;
    }
    if (i == at.size()) return best;
  }
}

RC_GTEST_PROP(CheapestMix, IsWhatAnExhaustiveSearchFinds, ()) {
  std::vector<MixOption> options;
  const auto variants = *rc::gen::inRange<std::size_t>(1, 5);
  for (std::size_t i = 0; i < variants; ++i) {
    MixOption& option = options.emplace_back();
    option.worth_milli = *rc::gen::element<std::int64_t>(0, 250, 333, 500, 1000, 1000, 2100);
    option.price = *rc::gen::inRange<std::int64_t>(1, 12);
    option.least = *rc::gen::inRange<ReplicaCount>(0, 2);
    option.most = option.least + *rc::gen::inRange<ReplicaCount>(0, 6);
    option.current = *rc::gen::inRange<ReplicaCount>(0, 8);
  }
  const MixTerms terms{.horizon = hours(1), .lead = minutes(*rc::gen::inRange(0, 59))};
  const auto needed = *rc::gen::inRange<std::int64_t>(0, 12'000);
  const Mix mix = cheapest_mix(options, needed, terms);
  const Numbers slow = exhaustive(options, needed, terms);
  RC_ASSERT(mix.exact);
  RC_ASSERT(mix.covers == !slow.empty());
  if (mix.covers) RC_ASSERT(mix.replicas == slow);
}

RC_GTEST_PROP(CheapestMix, IsNeverMoreExpensiveThanAnyVariantAlone, ()) {
  std::vector<MixOption> options;
  for (std::size_t i = 0; i < 8; ++i) {
    options.push_back({.worth_milli = *rc::gen::inRange<std::int64_t>(50, 4'000),
                       .price = *rc::gen::inRange<std::int64_t>(1, 10'000'000),
                       .most = 1'000});
  }
  const auto needed = *rc::gen::inRange<std::int64_t>(1, 40'000);
  const Mix mix = cheapest_mix(options, needed, kTerms);
  RC_ASSERT(mix.covers);
  for (const MixOption& option : options) RC_ASSERT(mix.price <= *replicas_alone(option, needed) * option.price);
}

}  // namespace
}  // namespace capstan::decide::scale
