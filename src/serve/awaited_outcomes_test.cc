#include "serve/awaited_outcomes.h"

#include <gtest/gtest.h>

namespace capstan::serve {
namespace {

TEST(AwaitedOutcomes, GivesThePlaceOfAnAction) {
  archive::RepeatedDecisions decided;
  decided.scale.emplace_back().plan.actions.resize(2);
  const std::uint64_t key = archive::action_keys(decided).front();
  AwaitedOutcomes awaited;
  awaited.add(50, 7, decided);
  EXPECT_FALSE(awaited.take(51, {.action = key}));
  EXPECT_FALSE(awaited.take(50, {.action = key + 1}));
  for (const std::int64_t position : {0, 1}) {
    const std::optional<ShownOutcome> shown = awaited.take(50, {.action = key});
    ASSERT_TRUE(shown);
    EXPECT_EQ(shown->state, 7);
    EXPECT_EQ(shown->position, position);
  }
  EXPECT_FALSE(awaited.take(50, {.action = key}));
}

TEST(AwaitedOutcomes, ForgetsTheOldest) {
  archive::RepeatedDecisions decided;
  decided.scale.emplace_back().plan.actions.resize(1);
  const std::uint64_t key = archive::action_keys(decided).front();
  AwaitedOutcomes awaited;
  constexpr auto kAll = static_cast<std::int64_t>(AwaitedOutcomes::kMax) + 1;
  for (std::int64_t i = 0; i < kAll; ++i) awaited.add(i, i, decided);
  EXPECT_FALSE(awaited.take(0, {.action = key}));
  EXPECT_TRUE(awaited.take(1, {.action = key}));
}

}  // namespace
}  // namespace capstan::serve
