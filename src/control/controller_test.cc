#include "control/controller.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

namespace capstan::control {
namespace {

using std::chrono::seconds;
using Kind = ports::Outcome::Kind;

/// A world that a test scripts: one service, one node of eight GPUs, and stated outcomes.
class ScriptedWorld final : public ports::World {
 public:
  ScriptedWorld() {
    auto catalog = std::make_shared<model::Catalog>();
    catalog->gpu_kinds = {"h100_sxm"};
    model::Workload workload;
    workload.gpu = {0};
    model::Service service;
    service.workload = workload;
    service.max_replicas = 8;
    catalog->services = {service};
    seen_.snapshot.catalog = catalog;
    seen_.snapshot.services.set({0}, {.desired_replicas = 2, .gateway_waiting = {}});
    model::Node node;
    node.gpu = {0};
    node.gpus = whole_gpus(8);
    seen_.snapshot.nodes.set({0}, node);
    seen_.delta.services = {{0}};
    seen_.delta.nodes = {{0}};
  }

  Instant now() const override { return now_; }
  ports::Observation observe() override {
    ports::Observation seen = seen_;
    seen.snapshot.at = now_;
    seen_.delta = {};
    seen_.outcomes.clear();
    return seen;
  }
  model::ActionToken submit(const model::Action& action) override {
    submitted.push_back(action);
    return {next_token_++};
  }

  void advance(Instant to) { now_ = to; }
  /// Adds a pool that sells nodes of sixteen GPUs.
  void sell() {
    auto catalog = std::make_shared<model::Catalog>(*seen_.snapshot.catalog);
    catalog->domains = {{.name = "all", .level = model::TopologyLevel::cluster, .parent = {}}};
    model::Offering offering;
    offering.instance_type = "sixteen";
    offering.gpu = {0};
    offering.gpus = 16;
    offering.zone = {0};
    catalog->offerings = {offering};
    model::Pool pool;
    pool.limits.gpus = 64;
    pool.offerings = {{0}};
    catalog->pools = {pool};
    seen_.snapshot.catalog = catalog;
  }
  void add_pending_gang(std::uint32_t id, GpuCount gpus = 1) {
    model::Gang gang;
    gang.service = {0};
    gang.ordinal = id;
    gang.spec.pods.gpu = {0};
    gang.spec.pods.count = 1;
    gang.spec.pods.gpus_per_pod = whole_gpus(gpus);
    gang.pods = {{id}};
    model::Pod pod;
    pod.gang = {id};
    pod.gpus = whole_gpus(gpus);
    seen_.snapshot.gangs.set({id}, gang);
    seen_.snapshot.pods.set({id}, pod);
    seen_.delta.gangs.push_back({id});
    seen_.delta.pods.push_back({id});
  }
  void answer(std::uint32_t token, Kind kind, model::ReasonCode why = {}) {
    seen_.outcomes.push_back({{token}, kind, {why, {}}});
  }

  std::vector<model::Action> submitted;

 private:
  Instant now_{};
  ports::Observation seen_;
  std::uint32_t next_token_ = 0;
};

Policies fixed(ReplicaCount replicas) {
  decide::provision::Policy provision = decide::provision::whole_groups();
  provision.consolidation.enabled = false;
  return {.name = "fixed",
          .scale = {decide::scale::Fixed{.replicas = replicas}},
          .place = decide::place::Policy(),
          .provision = provision};
}

template <typename What>
std::int64_t count(const ScriptedWorld& world) {
  return std::ranges::count_if(world.submitted,
                               [](const model::Action& a) { return std::holds_alternative<What>(a.effect); });
}

std::int64_t count_binds(const ScriptedWorld& world) { return count<model::BindPods>(world); }

void run_to(Controller& controller, ScriptedWorld& world, Instant end) {
  while (controller.next_tick() <= end) {
    world.advance(controller.next_tick());
    controller.tick();
  }
}

TEST(Controller, ABindingIsNotSentTwiceWhileItsOutcomeIsPending) {
  ScriptedWorld world;
  world.add_pending_gang(0);
  Controller controller(fixed(2), world);
  run_to(controller, world, {seconds(5)});
  EXPECT_EQ(count_binds(world), 1);
}

TEST(Controller, ARefusedBindingIsDecidedAgain) {
  ScriptedWorld world;
  world.add_pending_gang(0);
  Controller controller(fixed(2), world);
  controller.tick();
  world.answer(0, Kind::refused);
  run_to(controller, world, {seconds(2)});
  EXPECT_EQ(count_binds(world), 2);
  EXPECT_EQ(controller.stats().refused, 1);
}

TEST(Controller, ALaunchThatCapstanItselfRefusedDoesNotBackOffTheOffering) {
  struct Row {
    model::ReasonCode why;
    std::int64_t launches;  // launches within ten seconds: 1 if the refusal made the offering back off
  };
  for (const Row& row : {Row{model::ReasonCode::halted, 2}, Row{model::ReasonCode::lease_lost, 2},
                         Row{model::ReasonCode::view_too_old, 2}, Row{model::ReasonCode::api_refused, 1}}) {
    ScriptedWorld world;
    world.sell();
    world.add_pending_gang(0, 16);
    Controller controller(fixed(2), world);
    controller.tick();
    EXPECT_EQ(count<model::LaunchNodes>(world), 1);
    world.answer(0, Kind::refused, row.why);
    run_to(controller, world, {seconds(10)});
    EXPECT_EQ(count<model::LaunchNodes>(world), row.launches);
  }
}

TEST(Controller, PlansReplicasWhosePodsDoNotExistYet) {
  ScriptedWorld world;
  world.add_pending_gang(0);
  Controller controller(fixed(2), world);
  controller.tick();
  ASSERT_EQ(controller.memory().planned.size(), 1u);
  EXPECT_EQ(controller.memory().planned[0].ordinal, 1u);
}

TEST(Controller, SetsReplicasOnceAndWaitsForTheOutcome) {
  ScriptedWorld world;
  Controller controller(fixed(5), world);
  run_to(controller, world, {seconds(40)});
  std::int64_t asked = 0;
  for (const model::Action& action : world.submitted) {
    const auto* set = std::get_if<model::SetReplicas>(&action.effect);
    asked += set != nullptr ? 1 : 0;
    if (set != nullptr) {
      EXPECT_EQ(set->replicas, 5);
    }
  }
  EXPECT_EQ(asked, 1) << "two scale periods pass without an outcome";
  EXPECT_EQ(controller.log().count(), static_cast<std::uint64_t>(controller.stats().actions));
}

TEST(Controller, AScaleDownOnItsWayIsCancelledByAScaleUp) {
  Policies holds = fixed(0);
  holds.scale = {decide::scale::QueueHpa{}};  // a policy that changes nothing without a signal
  struct Row {
    Policies then;
    std::vector<ReplicaCount> asked;
  };
  for (const Row& row :
       {Row{fixed(1), {1}}, Row{fixed(2), {1, 2}}, Row{fixed(5), {1, 5}}, Row{fixed(0), {1}}, Row{holds, {1}}}) {
    ScriptedWorld world;
    Controller controller(fixed(1), world);
    run_to(controller, world, {seconds(16)});
    controller.set_policies(row.then);
    run_to(controller, world, {seconds(50)});
    std::vector<ReplicaCount> asked;
    for (const model::Action& action : world.submitted) {
      if (const auto* set = std::get_if<model::SetReplicas>(&action.effect)) asked.push_back(set->replicas);
    }
    EXPECT_EQ(asked, row.asked) << "of two replicas one is draining";
  }
}

TEST(Controller, NewPoliciesApplyFromTheNextTick) {
  ScriptedWorld world;
  Controller controller(fixed(2), world);
  controller.tick();
  EXPECT_TRUE(world.submitted.empty());
  controller.set_policies(fixed(5));
  run_to(controller, world, {seconds(20)});
  ASSERT_EQ(world.submitted.size(), 1u);
  EXPECT_EQ(std::get<model::SetReplicas>(world.submitted[0].effect).replicas, 5);
  EXPECT_EQ(controller.scale_decision({0}).desired, 5);
}

TEST(Controller, WithoutAPlacementPolicyNothingIsBound) {
  ScriptedWorld world;
  world.add_pending_gang(0);
  Policies policies = fixed(3);
  policies.place.reset();
  policies.provision.reset();
  Controller controller(policies, world);
  run_to(controller, world, {seconds(40)});
  EXPECT_EQ(world.submitted.size(), 1u);
  EXPECT_EQ(count_binds(world), 0);
}

TEST(Controller, ContinuesFromAPredecessorsMemory) {
  const auto answer_after = [](std::optional<Memory> memory) {
    ScriptedWorld world;
    Controller controller(fixed(2), world);
    if (memory) controller.restore(*memory);
    controller.tick();
    return controller.memory().scale;
  };
  Memory memory;
  memory.scale.resize(1);
  memory.scale[0].recommendations.push_back({{seconds(0)}, 7});
  std::vector<decide::scale::Memory> after = memory.scale;
  after[0].recommended = 2;
  EXPECT_EQ(answer_after(memory), after);
  EXPECT_NE(answer_after(std::nullopt), after);
}

/// Answers with 7 replicas, whatever the policy says.
class SevenReplicas final : public Decider {
 public:
  decide::scale::Decision scale(const ScaleInputs& question, decide::scale::Memory& memory) override {
    const decide::scale::Policy seven = decide::scale::Fixed{7};
    return policies_.scale({question.snapshot, question.role, seven, question.now}, memory);
  }
  decide::place::Decision place(const PlaceInputs& question, decide::place::Memory& memory) override {
    return policies_.place(question, memory);
  }
  decide::provision::Decision provision(const ProvisionInputs& question, decide::provision::Memory& memory) override {
    return policies_.provision(question, memory);
  }

 private:
  PolicyDecider policies_;
};

TEST(Controller, ShowsTheEndOfEveryAction) {
  ScriptedWorld world;
  std::vector<std::string> shown;
  const auto input_observer = [&](const model::Snapshot& snapshot, const Memory&, const DueDecisions&) {
    shown.push_back("inputs of " + std::to_string(whole_seconds(snapshot.at.since_start)));
  };
  const auto outcome_observer = [&](const ActionOutcome& outcome) {
    const bool is_shadow = outcome.why && outcome.why->code == model::ReasonCode::shadow_mode;
    EXPECT_TRUE(std::holds_alternative<model::SetReplicas>(outcome.action.effect));
    shown.push_back((outcome.kind == ActionOutcome::Kind::applied ? "applied"
                     : is_shadow                                  ? "Shadow"
                                                                  : "other") +
                    std::string(" at ") + std::to_string(whole_seconds(outcome.decided_at.since_start)));
  };
  Controller controller(fixed(4), world,
                        {.input_observer = input_observer, .decider = nullptr, .outcome_observer = outcome_observer});
  controller.tick();
  world.answer(0, Kind::refused, model::ReasonCode::shadow_mode);
  run_to(controller, world, {seconds(15)});
  world.answer(1, Kind::applied);
  run_to(controller, world, {seconds(16)});
  EXPECT_EQ(shown, (std::vector<std::string>{"inputs of 0", "Shadow at 0", "inputs of 15", "applied at 15"}));
}

/// Launches nodes at its second question, more than the pool may have, so that the guard withholds the launch.
class TooManyNodes final : public Decider {
 public:
  decide::scale::Decision scale(const ScaleInputs& question, decide::scale::Memory& memory) override {
    return policies_.scale(question, memory);
  }
  decide::place::Decision place(const PlaceInputs& question, decide::place::Memory& memory) override {
    return policies_.place(question, memory);
  }
  decide::provision::Decision provision(const ProvisionInputs&, decide::provision::Memory&) override {
    decide::provision::Decision decision;
    model::LaunchNodes launch;
    launch.pool = {0};
    launch.offering = {0};
    launch.count = 100;
    if (++asked_ == 2) decision.plan.actions.push_back({.effect = launch, .why = {}});
    return decision;
  }

 private:
  PolicyDecider policies_;
  int asked_ = 0;
};

TEST(Controller, ShowsTheInputsOfADecisionWhoseActionsAreAllWithheld) {
  ScriptedWorld world;
  world.sell();
  std::vector<std::string> shown;
  const auto input_observer = [&](const model::Snapshot& snapshot, const Memory&, const DueDecisions&) {
    shown.push_back("inputs of " + std::to_string(whole_seconds(snapshot.at.since_start)));
  };
  const auto outcome_observer = [&](const ActionOutcome& outcome) {
    EXPECT_EQ(outcome.kind, ActionOutcome::Kind::withheld);
    shown.push_back("withheld at " + std::to_string(whole_seconds(outcome.decided_at.since_start)));
  };
  Controller controller(fixed(2), world,
                        {.input_observer = input_observer,
                         .decider = std::make_unique<TooManyNodes>(),
                         .outcome_observer = outcome_observer});
  run_to(controller, world, {seconds(5)});
  EXPECT_TRUE(world.submitted.empty());
  EXPECT_EQ(shown, (std::vector<std::string>{"inputs of 0", "inputs of 1", "withheld at 1"}));
}

TEST(Controller, AsksItsDecider) {
  const auto replicas_after_a_tick = [](std::unique_ptr<Decider> decider) {
    ScriptedWorld world;
    Controller controller(fixed(4), world, {.input_observer = {}, .decider = std::move(decider)});
    controller.tick();
    return controller.scale_decision({0}).desired;
  };
  EXPECT_EQ(replicas_after_a_tick(nullptr), 4);
  EXPECT_EQ(replicas_after_a_tick(std::make_unique<SevenReplicas>()), 7);
}

}  // namespace
}  // namespace capstan::control
