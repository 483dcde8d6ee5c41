#include "archive/redecide.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "decide/testing/world.h"

namespace capstan::archive {
namespace {

/// A world with a fixed snapshot that records the submitted actions.
class FixedWorld final : public ports::World {
 public:
  explicit FixedWorld(model::Snapshot snapshot) : snapshot_(std::move(snapshot)) {}
  Instant now() const override { return snapshot_.at; }
  ports::Observation observe() override { return {snapshot_, {}, {}}; }
  model::ActionToken submit(const model::Action& action) override {
    submitted.actions.push_back(action);
    return model::ActionToken{next_++};
  }

  model::Plan submitted;

 private:
  model::Snapshot snapshot_;
  std::uint32_t next_ = 0;
};

/// Returns all decided actions in the order in which the loop submits them.
model::Plan whole_plan(const Redecision& all) {
  model::Plan plan;
  const auto add = [&](const model::Plan& part) {
    plan.actions.insert(plan.actions.end(), part.actions.begin(), part.actions.end());
  };
  for (const decide::scale::Decision& decision : all.scale) add(decision.plan);
  add(all.place.plan);
  add(all.provision.plan);
  return plan;
}

RC_GTEST_PROP(Redecide, GivesThePlanOfTheLoop, ()) {
  decide::testing::World world = decide::testing::random_world();
  world.snapshot.at = decide::testing::at(100);
  control::Policies policies{"any", {}, {}, {}};
  const decide::scale::Policy fixed = decide::scale::Fixed{*rc::gen::inRange(0, 20)};
  policies.scale.assign(world.snapshot.catalog->services.size(), fixed);
  policies.place.emplace();
  policies.provision = *rc::gen::element(decide::provision::whole_groups(), decide::provision::karpenter());

  FixedWorld port(world.snapshot);
  std::string saved;
  const auto input_observer = [&](const model::Snapshot& snapshot, const control::Memory& memory) {
    saved = to_json({snapshot, {}, policies, memory});
  };
  control::Controller(policies, port, {.input_observer = input_observer, .decider = nullptr}).tick();

  const Result<SavedState> state = parse(saved, "incident.json");
  RC_ASSERT(state.has_value());
  RC_ASSERT(plan_hash(whole_plan(redecide(*state))) == plan_hash(port.submitted));
  decide::Index index = decide::build(state->snapshot);
  for (int i = 0; i < 2; ++i) {
    RC_ASSERT(plan_hash(whole_plan(redecide(*state, index))) == plan_hash(port.submitted));
  }
}

}  // namespace
}  // namespace capstan::archive
