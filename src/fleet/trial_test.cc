#include "fleet/trial.h"

#include <gtest/gtest.h>

#include "fleet/testing/world.h"

namespace capstan::fleet {
namespace {

using testing::World;

TEST(Trial, RollsBackToAMarkAndOnDestruction) {
  World world;
  const NodeId a = world.node(0), b = world.node(1);
  Index index = build(world.snapshot);
  const Index before = index;
  {
    Trial overlay(index.rooms);
    overlay.take(a, whole_gpus(3), {});
    const Trial::Mark mark = overlay.mark();
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

}  // namespace
}  // namespace capstan::fleet
