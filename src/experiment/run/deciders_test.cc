#include "experiment/run/deciders.h"

#include <gtest/gtest.h>

#include <variant>

namespace capstan::experiment {
namespace {

/// Answers with the number of the policy `Fixed`. If `forgets` is true, its answers also depend on the number of
/// questions, which its memory does not contain.
class CountingDecider final : public control::Decider {
 public:
  explicit CountingDecider(bool forgets) : forgets_(forgets) {}

  decide::scale::Decision scale(const control::ScaleInputs& question, decide::scale::Memory& memory) override {
    ++asked_;
    decide::scale::Decision decision;
    decision.desired = std::get<decide::scale::Fixed>(question.policy).replicas + (forgets_ ? asked_ : 0);
    decision.why.code = decision.desired > kMaximum ? model::ReasonCode::at_maximum : model::ReasonCode::fixed_replicas;
    model::SetReplicas set;
    set.replicas = decision.desired;
    decision.plan.actions.push_back({set, decision.why});
    memory.recommended = decision.desired;
    return decision;
  }
  decide::place::Decision place(const control::PlaceInputs&, decide::place::Memory&) override { return {}; }
  decide::provision::Decision provision(const control::ProvisionInputs&, decide::provision::Memory&) override {
    return {};
  }

 private:
  static constexpr int kMaximum = 8;
  bool forgets_;
  int asked_ = 0;
};

const decide::scale::Policy kFour = decide::scale::Fixed{4};

decide::scale::Decision ask(control::Decider& decider) {
  const model::Snapshot snapshot;
  const decide::scale::WorkloadView role;
  decide::scale::Memory memory;
  return decider.scale({snapshot, role, kFour, {}}, memory);
}

TEST(ReplayCheck, CountsDecisionsThatDependOnMoreThanTheMemory) {
  std::int64_t differences = 0;
  ReplayCheck repeatable(std::make_unique<CountingDecider>(false), differences);
  EXPECT_EQ(ask(repeatable).desired, 4);
  EXPECT_EQ(differences, 0);
  ReplayCheck forgetful(std::make_unique<CountingDecider>(true), differences);
  EXPECT_EQ(ask(forgetful).desired, 5) << "the first answer counts";
  EXPECT_EQ(differences, 1);
}

TEST(OutsideAutoscaler, ItsNumberReplacesThePolicysUnlessABoundChangesIt) {
  struct Row {
    const char* name;
    std::optional<ReplicaCount> number;
    ReplicaCount desired;
    model::ReasonCode why;
  };
  const Row rows[] = {
      {"no number: the policy decides", std::nullopt, 4, model::ReasonCode::fixed_replicas},
      {"a number", 6, 6, model::ReasonCode::set_by_autoscaler},
      {"a number above the bound", 9, 9, model::ReasonCode::at_maximum},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    const Autoscaler autoscaler = [&](const model::Snapshot&, const decide::scale::WorkloadView&) {
      return row.number;
    };
    OutsideAutoscaler decider(std::make_unique<CountingDecider>(false), autoscaler);
    const decide::scale::Decision decision = ask(decider);
    EXPECT_EQ(decision.desired, row.desired);
    EXPECT_EQ(decision.why.code, row.why);
    EXPECT_EQ(decision.plan.actions.at(0).why.code, row.why);
  }
}

}  // namespace
}  // namespace capstan::experiment
