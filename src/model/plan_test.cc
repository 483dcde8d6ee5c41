#include "model/plan.h"

#include <gtest/gtest.h>

namespace capstan::model {
namespace {

TEST(Plan, AnyNumberOfAnyActionChangesTheHash) {
  const Plan base{.actions = {{LaunchNodes{{1}, {2}, {3}, 2, std::chrono::minutes(5), {4}}, {}}}, .no_actions = {}};
  EXPECT_EQ(plan_hash(base), plan_hash(base));
  Plan other = base;
  std::get<LaunchNodes>(other.actions[0].effect).hold = std::chrono::minutes(6);
  EXPECT_NE(plan_hash(other), plan_hash(base));
  other = base;
  other.actions[0].why.numbers[3] = 1;
  EXPECT_NE(plan_hash(other), plan_hash(base));
  other = base;
  other.no_actions.push_back({});
  EXPECT_NE(plan_hash(other), plan_hash(base));
}

TEST(Plan, TheOrderOfActionsCounts) {
  const Action one{TerminateNode{{1}}, {}};
  const Action two{TerminateNode{{2}}, {}};
  EXPECT_NE(plan_hash({{one, two}, {}}), plan_hash({{two, one}, {}}));
  EXPECT_NE(plan_hash({{{EvictPod{{1}}, {}}}, {}}), plan_hash({{one}, {}})) << "the kind of an action counts";
}

}  // namespace
}  // namespace capstan::model
