#include "decide/overlay.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "decide/place/place.h"
#include "decide/provision/provision.h"
#include "decide/testing/world.h"

namespace capstan::decide {
namespace {

using testing::at;
using testing::World;

TEST(Overlay, RollsBackToAMarkAndOnDestruction) {
  World world;
  const NodeId a = world.node(0), b = world.node(1);
  Index index = build(world.snapshot);
  const Index before = index;
  {
    Overlay overlay(index.rooms);
    overlay.take(a, whole_gpus(3), {});
    const Overlay::Mark mark = overlay.mark();
    overlay.take(a, whole_gpus(1), {});
    overlay.erase(b);
    EXPECT_EQ(overlay.rooms().find(a)->free.sum, whole_gpus(4));
    EXPECT_EQ(overlay.rooms().find(b), nullptr);
    overlay.rollback(mark);
    EXPECT_EQ(overlay.rooms().find(a)->free.sum, whole_gpus(5));
    EXPECT_NE(overlay.rooms().find(b), nullptr);
  }
  EXPECT_TRUE(index == before);
}

RC_GTEST_PROP(Overlay, DecisionsLeaveTheIndexUnchanged, ()) {
  World world = testing::random_world();
  Index index = build(world.snapshot);
  const Index before = index;
  const auto kind = *rc::gen::element(place::Policy::Kind::first_fit, place::Policy::Kind::gang);
  place::Memory placing;
  const place::Decision placed =
      place::decide(index, world.snapshot, {}, {.kind = kind}, placing, at(100), {.options = {.verify = Verify::yes}});
  RC_ASSERT(index == before);
  provision::Policy policy =
      *rc::gen::element(provision::cluster_autoscaler(), provision::karpenter(), provision::whole_groups());
  policy.consolidation.after = {};
  provision::Memory memory;
  for (const int seconds : {100, 120, 140}) {
    provision::decide(index, world.snapshot, placed, policy, memory, at(seconds), {.verify = Verify::yes});
    RC_ASSERT(index == before);
  }
}

}  // namespace
}  // namespace capstan::decide
