#include "decide/place/passes.h"

#include <gtest/gtest.h>

#include "decide/testing/placement.h"

namespace capstan::decide::place {
namespace {

/// Two gangs of eight GPUs, and a queue with a limit of eight GPUs. There is no node.
struct TwoGangs {
  TwoGangs() {
    world.pool({world.offering(8, 0, 10)}, 64);
    const model::QueueId queue = world.queue(8);
    for (const std::int64_t at_s : {0, 1}) world.enqueue(world.gang(8, 1, TopologyLevel::node, at_s), queue);
  }
  fleet::testing::World world;
};

TEST(StateShortfalls, NoNodeIsBoughtForAGangThatItsQueueCouldNotHold) {
  const Decision decision = place_once(TwoGangs().world, {});
  EXPECT_EQ(decision.shortfalls.size(), 1u);
  EXPECT_EQ(decision.verdicts.at(0).why.code, model::ReasonCode::shortfall);
  EXPECT_EQ(decision.verdicts.at(1).kind, PlacementResult::Kind::held_by_queue);
}

TEST(StateShortfalls, SwitchedOffNoGangStatesWhatItLacks) {
  const Decision decision = place_once(TwoGangs().world, gang_without("state_shortfalls"));
  EXPECT_TRUE(decision.shortfalls.empty());
  for (const PlacementResult& result : decision.verdicts) EXPECT_EQ(result.why.code, model::ReasonCode::passes_off);
}

}  // namespace
}  // namespace capstan::decide::place
