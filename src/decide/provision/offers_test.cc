#include "decide/provision/offers.h"

#include <gtest/gtest.h>

#include "decide/provision/provision.h"
#include "fleet/testing/world.h"

namespace capstan::decide::provision {
namespace {

using fleet::testing::at;
using fleet::testing::World;
using Outcome = Offer::Outcome;

Decision bought(const World& world, const Policy& policy, Memory& memory, Detail detail = Detail::candidates) {
  Index index = fleet::build(world.snapshot);
  place::Memory placing;
  const place::Policy::Kind kind =
      policy.kind == Policy::Kind::group ? place::Policy::Kind::gang : place::Policy::Kind::first_fit;
  const place::Decision placed = place::decide(index, world.snapshot, {}, {.kind = kind}, placing, at(100));
  return decide(index, world.snapshot, placed, policy, memory, at(100), {.detail = detail});
}

TEST(Offers, AGangNamesThePurchaseAndTheRejectedOnes) {
  World world;
  const auto cheap = world.offering(8, 0, 10), dear = world.offering(8, 0, 20), small = world.offering(4, 0, 1);
  const auto blocked = world.offering(8, 0, 5);
  world.pool({cheap, dear, small, blocked}, 64);
  const model::GangId gang = world.gang(1, 8, TopologyLevel::node);
  Memory memory;
  memory.backoffs.push_back({.offering = blocked, .failures = 1, .failed_at = at(90), .until = at(200)});
  const Decision decision = bought(world, whole_groups(), memory);
  ASSERT_EQ(decision.offer_comparisons.size(), 1u);
  const OfferComparison& comparison = decision.offer_comparisons.front();
  EXPECT_EQ(comparison.gang, gang);
  EXPECT_EQ(comparison.gpus, whole_gpus(8));
  ASSERT_EQ(comparison.offers.size(), 4u);
  EXPECT_EQ(comparison.offers[0].purchase.offering, cheap);
  EXPECT_EQ(comparison.offers[0].outcome, Outcome::chosen);
  EXPECT_EQ(comparison.offers[0].price, MicroUsd{10'000'000});
  EXPECT_EQ(comparison.offers[1].purchase.offering, dear);
  EXPECT_EQ(comparison.offers[1].outcome, Outcome::not_cheapest);
  EXPECT_EQ(comparison.offers[2].purchase.offering, blocked);
  EXPECT_EQ(comparison.offers[2].outcome, Outcome::refused);
  EXPECT_EQ(comparison.offers[2].why.code, model::ReasonCode::backing_off);
  EXPECT_EQ(comparison.offers[3].purchase.offering, small);
  EXPECT_EQ(comparison.offers[3].outcome, Outcome::too_small);
}

TEST(Offers, SinglePodsNameThemToo) {
  World world;
  const auto small = world.offering(4, 0, 4), large = world.offering(8, 0, 10);
  world.pool({small, large}, 64);
  world.gang(1, 2, TopologyLevel::node);
  Policy policy = karpenter();
  policy.batch_idle = policy.batch_max = {};
  Memory memory;
  const Decision decision = bought(world, policy, memory);
  ASSERT_EQ(decision.offer_comparisons.size(), 1u);
  ASSERT_EQ(decision.offer_comparisons.front().offers.size(), 2u);
  EXPECT_EQ(decision.offer_comparisons.front().offers[0].purchase.offering, small);
  EXPECT_EQ(decision.offer_comparisons.front().offers[0].outcome, Outcome::chosen);
  EXPECT_EQ(decision.offer_comparisons.front().offers[1].outcome, Outcome::not_cheapest);
  Memory other;
  EXPECT_TRUE(bought(world, policy, other, Detail::reasons).offer_comparisons.empty());
}

TEST(Offers, TheChosenOneIsKeptWhenTheListIsFull) {
  OfferComparison comparison;
  for (std::uint32_t i = 0; i < 100; ++i) comparison.add({.purchase = {{0}, {i}}, .count = 1, .price = {i}});
  EXPECT_EQ(comparison.offers.size(), OfferComparison::kMaxConsidered);
  EXPECT_EQ(comparison.left_out, 36);
  std::vector<OfferComparison> offer_comparisons;
  note_comparison(offer_comparisons, comparison, Offer{.purchase = {{0}, {99}}, .count = 1, .price = {99}});
  ASSERT_EQ(offer_comparisons.size(), 1u);
  EXPECT_EQ(offer_comparisons[0].offers.size(), OfferComparison::kMaxShown);
  EXPECT_EQ(offer_comparisons[0].offers.front().purchase.offering, model::OfferingId{99});
  EXPECT_EQ(offer_comparisons[0].offers.front().outcome, Outcome::chosen);
  EXPECT_EQ(offer_comparisons[0].left_out, 88);
}

}  // namespace
}  // namespace capstan::decide::provision
