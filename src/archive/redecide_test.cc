#include "archive/redecide.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <chrono>
#include <variant>

#include "fleet/testing/world.h"

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
model::Plan whole_plan(const RepeatedDecisions& all) {
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
  fleet::testing::World world = fleet::testing::random_world();
  world.snapshot.at = fleet::testing::at(100);
  control::Policies policies{"any", {}, {}, {}};
  const decide::scale::Policy fixed = decide::scale::Fixed{*rc::gen::inRange(0, 20)};
  policies.scale.assign(world.snapshot.catalog->services.size(), fixed);
  policies.place.emplace();
  policies.provision = *rc::gen::element(decide::provision::whole_groups(), decide::provision::karpenter());

  FixedWorld port(world.snapshot);
  std::string saved;
  const auto input_observer = [&](const model::Snapshot& snapshot, const control::Memory& memory,
                                  const control::DueDecisions&) { saved = to_json({snapshot, {}, policies, memory}); };
  control::Controller(policies, port, {.input_observer = input_observer, .decider = nullptr}).tick();

  const Result<SavedState> state = parse(saved, "incident.json");
  RC_ASSERT(state.has_value());
  RC_ASSERT(plan_hash(whole_plan(redecide(*state))) == plan_hash(port.submitted));
  fleet::Index index = fleet::build(state->snapshot);
  for (int i = 0; i < 2; ++i) {
    RC_ASSERT(plan_hash(whole_plan(redecide(*state, index))) == plan_hash(port.submitted));
  }
}

/// A world in which time passes only with pass(), and which follows a change of the replicas at once.
class FollowingWorld final : public ports::World {
 public:
  explicit FollowingWorld(model::Snapshot snapshot) : snapshot_(std::move(snapshot)) {}
  Instant now() const override { return snapshot_.at; }
  ports::Observation observe() override { return {snapshot_, {}, {}}; }
  model::ActionToken submit(const model::Action& action) override {
    submitted.actions.push_back(action);
    if (const auto* set = std::get_if<model::SetReplicas>(&action.effect)) {
      model::ServiceState state = snapshot_.services.at(set->service);
      state.desired_replicas = set->replicas;
      snapshot_.services.set(set->service, state);
    }
    return model::ActionToken{next_++};
  }
  void pass(Duration time) { snapshot_.at = snapshot_.at + time; }

  model::Plan submitted;

 private:
  model::Snapshot snapshot_;
  std::uint32_t next_ = 0;
};

/// Pods and nodes are decided every second, and replicas every 15 s. So the purchase for new replicas comes a second
/// after the decision to start them.
TEST(Redecide, ARecordingHasThePurchasesBetweenTwoScaleDecisions) {
  fleet::testing::World world;
  world.pool({world.offering(8, 0, 12)}, 64);
  world.snapshot.at = fleet::testing::at(100);
  control::Policies policies{"any", {}, {}, {}};
  policies.scale.assign(world.snapshot.catalog->services.size(), decide::scale::Fixed{2});
  policies.place.emplace();
  policies.provision = decide::provision::whole_groups();

  FollowingWorld port(world.snapshot);
  std::vector<SavedState> states;
  const auto input_observer = [&](const model::Snapshot& snapshot, const control::Memory& memory,
                                  const control::DueDecisions& due) {
    states.push_back({snapshot, {}, policies, memory, due});
  };
  control::Controller controller(policies, port, {.input_observer = input_observer, .decider = nullptr});
  for (int second = 0; second < 20; ++second) {
    controller.tick();
    port.pass(std::chrono::seconds(1));
  }
  ASSERT_TRUE(std::ranges::any_of(port.submitted.actions, [](const model::Action& action) {
    return std::holds_alternative<model::LaunchNodes>(action.effect);
  }));
  model::Plan shown;
  for (const SavedState& state : states) {
    const model::Plan plan = whole_plan(redecide(state));
    shown.actions.insert(shown.actions.end(), plan.actions.begin(), plan.actions.end());
  }
  EXPECT_EQ(plan_hash(shown), plan_hash(port.submitted));
  EXPECT_LT(states.size(), 10U) << "a state without an action is recorded only when replicas are decided";
}

/// A world in which time passes only with pass(), and in which no action ever takes effect or has an outcome.
class SilentWorld final : public ports::World {
 public:
  explicit SilentWorld(model::Snapshot snapshot) : snapshot_(std::move(snapshot)) {}
  Instant now() const override { return snapshot_.at; }
  ports::Observation observe() override { return {snapshot_, {}, {}}; }
  model::ActionToken submit(const model::Action& action) override {
    submitted.actions.push_back(action);
    return model::ActionToken{next_++};
  }
  void pass(Duration time) { snapshot_.at = snapshot_.at + time; }

  model::Plan submitted;

 private:
  model::Snapshot snapshot_;
  std::uint32_t next_ = 0;
};

/// While replicas drain, the next decision starts from the count without them. While a scale-up has no outcome, the
/// service is not decided.
TEST(Redecide, RepeatsDecisionsWhileAnActionIsOnItsWay) {
  for (const ReplicaCount wanted : {1, 5}) {
    fleet::testing::World world;
    world.snapshot.at = fleet::testing::at(100);
    model::ServiceState service = world.snapshot.services.at({0});
    service.desired_replicas = 3;
    world.snapshot.services.set({0}, service);
    control::Policies policies{"any", {}, {}, {}};
    policies.scale.assign(world.snapshot.catalog->services.size(), decide::scale::Fixed{wanted});

    SilentWorld port(world.snapshot);
    std::string saved;
    control::DueDecisions due;
    const auto input_observer = [&](const model::Snapshot& snapshot, const control::Memory& memory,
                                    const control::DueDecisions& decided) {
      saved = to_json({snapshot, {}, policies, memory, decided});
      due = decided;
    };
    control::Controller controller(policies, port, {.input_observer = input_observer, .decider = nullptr});
    for (int tick = 0; tick < 3; ++tick) {
      port.submitted = {};
      controller.tick();
      Result<SavedState> state = parse(saved, "incident.json");
      ASSERT_TRUE(state.has_value()) << state.error().message;
      state->due = due;
      EXPECT_EQ(plan_hash(whole_plan(redecide(*state))), plan_hash(port.submitted)) << wanted << " at tick " << tick;
      EXPECT_EQ(port.submitted.actions.empty(), tick > 0);
      port.pass(std::chrono::seconds(15));
    }
  }
}

TEST(Redecide, ALayerThatWasNotDueHasNoAction) {
  fleet::testing::World world;
  world.pool({world.offering(8, 0, 12)}, 64);
  const model::NodeId node = world.node(0);
  world.gang(1, 4, model::TopologyLevel::node);
  SavedState state;
  state.snapshot = world.snapshot;
  state.snapshot.at = fleet::testing::at(100);
  state.policies = {"any", {}, {}, {}};
  state.policies.scale.assign(world.snapshot.catalog->services.size(), decide::scale::Fixed{5});
  state.policies.place.emplace();
  state.policies.provision = decide::provision::whole_groups();
  state.memory.scale.resize(state.policies.scale.size());
  const ReplicaCount before = world.snapshot.services.at({0}).desired_replicas;
  ASSERT_TRUE(node.valid() && before != 5);

  const RepeatedDecisions all = redecide(state);
  EXPECT_EQ(all.scale.at(0).desired, 5);
  EXPECT_FALSE(all.scale.at(0).plan.actions.empty());
  EXPECT_FALSE(all.place.plan.actions.empty());

  state.due = {.services = std::vector<model::ServiceId>(), .placement = true};
  const RepeatedDecisions lower = redecide(state);
  EXPECT_TRUE(lower.scale.at(0).plan.actions.empty());
  EXPECT_EQ(lower.scale.at(0).desired, before);
  EXPECT_EQ(plan_hash(lower.place.plan), plan_hash(all.place.plan));

  state.due = {.services = {}, .placement = false};
  const RepeatedDecisions upper = redecide(state);
  EXPECT_EQ(plan_hash(upper.scale.at(0).plan), plan_hash(all.scale.at(0).plan));
  EXPECT_TRUE(upper.place.plan.actions.empty() && upper.provision.plan.actions.empty());
  EXPECT_EQ(upper.memory.place, state.memory.place) << "what was not decided is not remembered";
}

}  // namespace
}  // namespace capstan::archive
