#include "decide/provision/offers.h"

#include <gtest/gtest.h>

#include "decide/provision/provision.h"
#include "decide/testing/world.h"

namespace capstan::decide::provision {
namespace {

using decide::testing::at;
using decide::testing::World;
using Outcome = Offer::Outcome;

Decision bought(const World& world, const Policy& policy, Memory& memory, Detail detail = Detail::candidates) {
  Index index = build(world.snapshot);
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
  ASSERT_EQ(decision.needs.size(), 1u);
  const Need& need = decision.needs.front();
  EXPECT_EQ(need.gang, gang);
  EXPECT_EQ(need.gpus, whole_gpus(8));
  ASSERT_EQ(need.offers.size(), 4u);
  EXPECT_EQ(need.offers[0].purchase.offering, cheap);
  EXPECT_EQ(need.offers[0].outcome, Outcome::chosen);
  EXPECT_EQ(need.offers[0].price, MicroUsd{10'000'000});
  EXPECT_EQ(need.offers[1].purchase.offering, dear);
  EXPECT_EQ(need.offers[1].outcome, Outcome::dearer);
  EXPECT_EQ(need.offers[2].purchase.offering, blocked);
  EXPECT_EQ(need.offers[2].outcome, Outcome::refused);
  EXPECT_EQ(need.offers[2].why.code, model::ReasonCode::backing_off);
  EXPECT_EQ(need.offers[3].purchase.offering, small);
  EXPECT_EQ(need.offers[3].outcome, Outcome::too_small);
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
  ASSERT_EQ(decision.needs.size(), 1u);
  ASSERT_EQ(decision.needs.front().offers.size(), 2u);
  EXPECT_EQ(decision.needs.front().offers[0].purchase.offering, small);
  EXPECT_EQ(decision.needs.front().offers[0].outcome, Outcome::chosen);
  EXPECT_EQ(decision.needs.front().offers[1].outcome, Outcome::dearer);
  Memory other;
  EXPECT_TRUE(bought(world, policy, other, Detail::reasons).needs.empty());
}

TEST(Offers, TheChosenOneIsKeptWhenTheListIsFull) {
  Need need;
  for (std::uint32_t i = 0; i < 100; ++i) need.add({.purchase = {{0}, {i}}, .count = 1, .price = {i}});
  EXPECT_EQ(need.offers.size(), Need::kConsideredMost);
  EXPECT_EQ(need.left_out, 36);
  std::vector<Need> needs;
  note_need(needs, need, Offer{.purchase = {{0}, {99}}, .count = 1, .price = {99}});
  ASSERT_EQ(needs.size(), 1u);
  EXPECT_EQ(needs[0].offers.size(), Need::kShownMost);
  EXPECT_EQ(needs[0].offers.front().purchase.offering, model::OfferingId{99});
  EXPECT_EQ(needs[0].offers.front().outcome, Outcome::chosen);
  EXPECT_EQ(needs[0].left_out, 88);
}

}  // namespace
}  // namespace capstan::decide::provision
