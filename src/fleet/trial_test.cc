#include "fleet/trial.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

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

/// Changes a random node of the trial: takes room that is free, or erases the node.
void change_at_random(Trial& trial, std::uint32_t nodes) {
  const NodeId id{*rc::gen::inRange(std::uint32_t{0}, nodes)};
  const NodeRoom* room = trial.rooms().find(id);
  if (room == nullptr) return;
  if (*rc::gen::inRange(0, 4) == 0) return trial.erase(id);
  const MilliGpu gpus{*rc::gen::inRange(std::int64_t{0}, room->free.sum.count + 1)};
  trial.take(id, gpus, {.cpu_milli = *rc::gen::inRange(0, 5'000), .pod_slots = 1});
}

RC_GTEST_PROP(Trial, RollbackRestoresEveryByteOfTheRoomsAtItsMark, ()) {
  World world = testing::random_world();
  Index index = build(world.snapshot);
  const Index before = index;
  {
    Trial trial(index.rooms);
    std::vector<std::pair<Trial::Mark, Rooms>> marks;
    for (int step = *rc::gen::inRange(0, 30); step > 0; --step) {
      switch (*rc::gen::inRange(0, 4)) {
        case 0:
          marks.emplace_back(trial.mark(), trial.rooms());
          break;
        case 1: {
          if (marks.empty()) break;
          const std::size_t at = *rc::gen::inRange(std::size_t{0}, marks.size());
          trial.rollback(marks[at].first);
          RC_ASSERT(trial.rooms() == marks[at].second);
          marks.resize(at + 1);
          break;
        }
        default:
          change_at_random(trial, world.next_node);
      }
    }
  }
  RC_ASSERT(index == before);
}

TEST(TrialDeathTest, ANodeThatDoesNotExistIsNeitherTakenNorErased) {
  World world;
  world.node(0);
  Index index = build(world.snapshot);
  Trial trial(index.rooms);
  EXPECT_DEATH(trial.take(NodeId{7}, whole_gpus(1), {}), "");
  EXPECT_DEATH(trial.erase(NodeId{7}), "room != nullptr");
}

}  // namespace
}  // namespace capstan::fleet
