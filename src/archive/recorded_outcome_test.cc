#include "archive/recorded_outcome.h"

#include <gtest/gtest.h>

namespace capstan::archive {
namespace {

model::Action scale_to(ReplicaCount replicas, model::ReasonCode why = {}) {
  return {.effect = model::SetReplicas{.service = {0}, .replicas = replicas, .drain = {}}, .why = {why, {}}};
}

TEST(RecordedOutcome, AnActionIsKnownByWhatItDoes) {
  EXPECT_EQ(action_key(scale_to(3)), action_key(scale_to(3, model::ReasonCode::shadow_mode)));
  EXPECT_NE(action_key(scale_to(3)), action_key(scale_to(4)));
}

TEST(RecordedOutcome, ShadowIsNoRefusal) {
  using Kind = control::ActionOutcome::Kind;
  const model::Action action = scale_to(3);
  const auto words = [&](Kind kind, std::optional<model::Reason> why) {
    return outcome_words(recorded_outcome({.decided_at = {}, .action = action, .kind = kind, .why = why}, {}));
  };
  EXPECT_EQ(words(Kind::applied, std::nullopt), "");
  EXPECT_EQ(words(Kind::refused, model::Reason{model::ReasonCode::shadow_mode, {}}), "Shadow, not carried out");
  EXPECT_TRUE(words(Kind::refused, model::Reason{model::ReasonCode::halted, {}}).starts_with("refused: "));
  EXPECT_EQ(words(Kind::withheld, std::nullopt), "not sent");
}

TEST(RecordedOutcome, EqualActionsGetTheirOutcomesInOrder) {
  const std::uint64_t one = action_key(scale_to(3)), two = action_key(scale_to(4));
  const auto found = outcomes_by_action({one, two, one}, {{.action = one, .result = ActionResult::refused},
                                                          {.action = one, .result = ActionResult::applied}});
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0]->result, ActionResult::refused);
  EXPECT_FALSE(found[1]) << "no outcome came";
  EXPECT_EQ(found[2]->result, ActionResult::applied);
}

}  // namespace
}  // namespace capstan::archive
