#include "peers/formula/aibrix.h"

#include <gtest/gtest.h>

namespace capstan::peers::aibrix {
namespace {

struct Row {
  const char* what;
  ReplicaCount current;
  double target, value;
  ReplicaCount pods;
};

TEST(Aibrix, Apa) {
  const Row rows[] = {
      {"up by the ratio", 2, 30, 45, 3},         {"at most double", 2, 30, 900, 4},
      {"down by the ratio", 6, 30, 20, 4},       {"at least half stay", 7, 30, 1, 3},
      {"exactly 10 % more holds", 2, 30, 33, 2}, {"exactly 10 % less holds", 10, 30, 27, 10},
      {"no target holds", 5, 0, 99, 5},          {"from zero it never scales up", 0, 30, 900, 0},
  };
  for (const Row& row : rows) EXPECT_EQ(apa(row.current, row.target, row.value, {}), row.pods) << row.what;
}

TEST(Aibrix, Kpa) {
  const Row rows[] = {
      {"the total divided by one pod's target", 2, 10, 25, 3},
      {"within the band of one pod", 4, 10, 10.5, 4},
      {"the band is that of one pod for any number of pods", 4, 10, 40, 4},
      {"at most half are removed", 4, 10, 5, 2},
      {"from zero to one", 0, 10, 500, 1},
      // AIBrix passes the mean over pods instead of the total. Four pods at 0.9 each, with a target of 0.5, become two,
      // because 0.9 / 0.5 is rounded up to 2.
      {"a mean taken for a total", 4, 0.5, 0.9, 2},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(kpa(row.current, row.target, row.value, row.value, {}, 1, {}), row.pods) << row.what;
  }
  EXPECT_EQ(kpa(2, 10, 30, 40, {true, 2}, 1, {}), 4) << "the higher count in panic";
  EXPECT_EQ(kpa(6, 10, 30, 40, {true, 6}, 1, {}), 6) << "panic never scales down";
  EXPECT_EQ(kpa(0, 10, 5, 5, {}, 3, {}), 3) << "the activation scale overrides the rate";
  EXPECT_TRUE(is_panic(10, 21));
  EXPECT_FALSE(is_panic(10, 20));
  EXPECT_TRUE(is_panic(0, 0)) << "no load counts as panic too";
}

}  // namespace
}  // namespace capstan::peers::aibrix
