#include "control/guards.h"

#include <gtest/gtest.h>

#include <memory>

#include "base/testing/moment.h"

namespace capstan::control {
namespace {

using capstan::testing::at_s;

using model::Action;
using model::Plan;

/// Makes a service of at most 4 replicas and one of at most 2, a pool of at most 16 GPUs (or `limit`) with a node of 8,
/// and a gang in phase `ready` whose two pods are not bound.
model::Snapshot world(GpuCount limit = 16) {
  auto catalog = std::make_shared<model::Catalog>();
  model::Service service;
  service.max_replicas = 4;
  model::Service other = service;
  other.max_replicas = 2;
  catalog->services = {service, other};
  catalog->offerings = {
      {.instance_type = "eight", .gpu = {0}, .gpus = 8, .zone = {0}, .capacity = {}, .price_per_hour = {}}};
  catalog->pools = {{.name = "pool", .offerings = {{0}}, .limits = {.gpus = limit}}};
  model::Snapshot snapshot;
  snapshot.catalog = catalog;
  snapshot.services.set({0}, {.desired_replicas = 3, .gateway_waiting = {}});
  snapshot.services.set({1}, {.desired_replicas = 1, .gateway_waiting = {}});
  model::Node node;
  node.pool = {0};
  node.gpus = whole_gpus(8);
  snapshot.nodes.set({0}, node);
  model::Gang gang;
  gang.service = {0};
  gang.phase = model::Gang::Phase::ready;
  gang.pods = {{0}, {1}};
  snapshot.gangs.set({0}, gang);
  snapshot.pods.set({0}, {});
  snapshot.pods.set({1}, {});
  return snapshot;
}

Action replicas(ReplicaCount n) { return {model::SetReplicas{{0}, n, {}}, {}}; }
Action stated(ReplicaCount n) {
  return {model::SetReplicas{{0}, n, {}, true}, {model::ReasonCode::fixed_replicas, {n}}};
}
Action convert() { return {model::ConvertReplica{{0}, {0}, {1}}, {}}; }
Action launch(std::int64_t nodes) { return {model::LaunchNodes{{0}, {0}, {}, nodes, {}, {}}, {}}; }
Action bind(std::vector<std::uint32_t> pods) {
  model::BindPods what{.gang = {0}, .bindings = {}};
  for (std::uint32_t pod : pods) what.bindings.push_back({{pod}, {0}});
  return {what, {}};
}

decide::provision::Memory::PendingLaunch asked(std::int64_t nodes) {
  decide::provision::Memory::PendingLaunch row;
  row.pool = {0};
  row.offering = {0};
  row.count = nodes;
  return row;
}

/// Returns the memory of a policy that made this plan.
decide::provision::Memory memory_after(const Plan& plan) {
  decide::provision::Memory memory;
  for (const Action& action : plan.actions) {
    const auto* launch = std::get_if<model::LaunchNodes>(&action.effect);
    if (launch != nullptr) memory.pending_launches.push_back(asked(launch->count));
  }
  return memory;
}

std::int64_t scale_downs_without_data(const Plan& plan, const model::Snapshot& snapshot,
                                      const decide::scale::Policy& policy, const InFlight& in_flight = {}) {
  return count_scale_downs_without_data(plan, snapshot, fleet::build(snapshot), in_flight,
                                        [&](model::ServiceId) -> const decide::scale::Policy& { return policy; });
}

struct Row {
  const char* teaches;
  std::vector<Action> actions;
  std::size_t allowed;
  std::int64_t partial, blind, limit;
};

const Row kRows[] = {
    {"a count up to the maximum is allowed", {replicas(4)}, 1, 0, 0, 0},
    {"a count above the maximum is removed", {replicas(5)}, 0, 0, 0, 1},
    {"a scale-down with a silent ready replica is counted", {replicas(2)}, 1, 0, 1, 0},
    {"a stated count does not depend on signals", {stated(2)}, 1, 0, 0, 0},
    {"a conversion from a role with a silent replica is counted", {convert()}, 1, 0, 1, 0},
    {"a conversion beyond the other role's maximum is removed", {convert(), convert()}, 1, 0, 1, 1},
    {"one node fits under the pool's limit", {launch(1)}, 1, 0, 0, 0},
    {"two nodes exceed the pool's limit", {launch(2)}, 0, 0, 0, 1},
    {"an earlier launch of the same plan counts", {launch(1), launch(1)}, 1, 0, 0, 1},
    {"a whole gang at once is allowed", {bind({0, 1})}, 1, 0, 0, 0},
    {"a partially bound gang is counted", {bind({0})}, 1, 1, 0, 0},
};

TEST(Guards, AQueuesLimitIsHard) {
  const auto allowed = [](GpuCount limit, bool on_its_way) {
    model::Snapshot snapshot = world();
    auto catalog = std::make_shared<model::Catalog>(*snapshot.catalog);
    catalog->queues = {{.name = "team", .parent = {}, .gpus = {.limit = whole_gpus(limit)}}};
    snapshot.catalog = catalog;
    for (std::uint32_t pod = 0; pod < 4; ++pod) {
      model::Pod row;
      row.gang = {pod / 2};
      row.gpus = whole_gpus(2);
      row.queue = {0};
      snapshot.pods.set({pod}, row);
    }
    decide::place::Memory memory;
    for (const std::uint32_t pod : {0u, 1u, 2u, 3u}) {
      if (pod >= 2 && !on_its_way) continue;
      decide::place::Memory::AssumedBinding row;
      row.pod = {pod};
      row.node = {0};
      row.gang = {pod / 2};
      memory.assumed.push_back(row);
    }
    Plan plan{.actions = {bind({0, 1})}, .no_actions = {}};
    Violations violations;
    guard(plan, snapshot, fleet::build(snapshot), memory, {}, violations);
    EXPECT_EQ(plan.actions.size() + static_cast<std::size_t>(violations.limit_exceeded), 1u);
    return plan.actions.size() == 1;
  };
  EXPECT_TRUE(allowed(4, false));
  EXPECT_FALSE(allowed(3, false));
  EXPECT_FALSE(allowed(7, true)) << "a binding on its way counts";
  EXPECT_TRUE(allowed(8, true));
}

TEST(Guards, TheFleetsLimitIsHard) {
  const auto allowed = [](const model::FleetLimits& limits, std::int64_t nodes) {
    model::Snapshot snapshot = world(64);
    auto catalog = std::make_shared<model::Catalog>(*snapshot.catalog);
    catalog->limits = limits;
    snapshot.catalog = catalog;
    model::Node node = snapshot.nodes.at({0});
    node.offering = {0};
    snapshot.nodes.set({0}, node);
    Plan plan{.actions = {launch(nodes)}, .no_actions = {}};
    Violations violations;
    guard(plan, snapshot, fleet::build(snapshot), {}, memory_after(plan), violations);
    return plan.actions.size() == 1;
  };
  EXPECT_TRUE(allowed({.gpus = 24, .nodes = {}, .price_per_hour = {}}, 2));
  EXPECT_FALSE(allowed({.gpus = 23, .nodes = {}, .price_per_hour = {}}, 2));
  EXPECT_FALSE(allowed({.gpus = {}, .nodes = 2, .price_per_hour = {}}, 2));
}

/// A scale-down needs readings of the signals that the policy uses, and of no others.
TEST(Guards, TheSignalsOfThePolicyDecideWhetherAScaleDownHasData) {
  using Signals = model::ReplicaSignals;
  const decide::scale::Policy queue = decide::scale::QueueHpa(), duty = decide::scale::DutyCycleHpa(),
                              capstan = decide::scale::Capstan(), fixed = decide::scale::Fixed();
  decide::scale::Rules by_kv;
  by_kv.scale_on = decide::scale::Rules::ScaleOn::kv;
  struct SignalRow {
    decide::scale::Policy policy;
    std::vector<model::SignalField> read;
    std::int64_t blind;
  };
  const std::vector<model::SignalField> load = {&Signals::waiting, &Signals::running, &Signals::prompt_tokens_total,
                                                &Signals::generated_tokens_total};
  std::vector<model::SignalField> load_and_kv = load;
  load_and_kv.push_back(&Signals::kv_usage_ppm);
  for (const SignalRow& row :
       {SignalRow{queue, {&Signals::waiting}, 0}, SignalRow{queue, {&Signals::kv_usage_ppm}, 1},
        SignalRow{duty, {&Signals::duty_cycle_percent}, 0}, SignalRow{duty, {&Signals::waiting}, 1},
        SignalRow{capstan, load, 0}, SignalRow{capstan, {&Signals::waiting}, 1}, SignalRow{by_kv, load, 1},
        SignalRow{by_kv, load_and_kv, 0}, SignalRow{fixed, {&Signals::waiting}, 0}, SignalRow{fixed, {}, 1}}) {
    model::Snapshot snapshot = world();
    model::ReplicaSignals signals;
    for (const model::SignalField field : row.read) {
      signals.*field = model::Signal::measured(1, std::chrono::seconds(5));
    }
    snapshot.signals.set({0}, signals);
    EXPECT_EQ(scale_downs_without_data({.actions = {replicas(2)}, .no_actions = {}}, snapshot, row.policy), row.blind)
        << row.policy.index() << " with " << row.read.size() << " signals";
  }
}

TEST(Guards, RaisingAScaleDownOnItsWayIsNotAScaleDown) {
  const model::Snapshot snapshot = world();  // with 3 replicas
  for (const ReplicaCount asked : {1, 2}) {
    InFlight in_flight;
    in_flight.add({7}, replicas(asked), at_s(0));
    Plan plan{.actions = {replicas(2)}, .no_actions = {}};
    EXPECT_EQ(scale_downs_without_data(plan, snapshot, decide::scale::QueueHpa(), in_flight), 0) << asked;
  }
}

TEST(Guards, CountsViolationsAndRemovesActionsAboveALimit) {
  const model::Snapshot snapshot = world();
  const fleet::Index index = fleet::build(snapshot);
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.teaches);
    Plan plan{.actions = row.actions, .no_actions = {}};
    Violations violations;
    guard(plan, snapshot, index, {}, memory_after(plan), violations);
    EXPECT_EQ(plan.actions.size(), row.allowed);
    EXPECT_EQ(violations.partial_gang, row.partial);
    EXPECT_EQ(scale_downs_without_data(plan, snapshot, decide::scale::QueueHpa()), row.blind);
    EXPECT_EQ(violations.limit_exceeded, row.limit);
  }
}

using Phase = model::Claim::Phase;

/// Nodes of 8 GPUs that are on their way, as claims and as launches without a claim. The pool also has one node of 8
/// GPUs that exists, and the plan launches another one.
struct Transit {
  const char* teaches;
  GpuCount limit;
  std::vector<Phase> claims;
  std::int64_t asked;  // nodes of earlier launches without a claim
  bool allowed;
};

const Transit kTransits[] = {
    {"nothing is on its way", 16, {}, 0, true},
    {"a claim counts", 16, {Phase::requested}, 0, false},
    {"a registered claim without a visible node counts", 16, {Phase::registered}, 0, false},
    {"a failed claim does not count", 16, {Phase::failed}, 0, true},
    {"a launch without a claim counts", 16, {}, 1, false},
    {"a claim and a launch both count", 24, {Phase::requested}, 1, false},
    {"the limit itself is allowed", 32, {Phase::requested}, 1, true},
};

TEST(Guards, NodesOnTheirWayCountAgainstTheLimit) {
  for (const Transit& row : kTransits) {
    SCOPED_TRACE(row.teaches);
    model::Snapshot snapshot = world(row.limit);
    std::uint32_t id = 0;
    for (const Phase phase : row.claims) {
      model::Claim claim;
      claim.phase = phase;
      claim.pool = {0};
      claim.offering = {0};
      if (phase == Phase::registered) claim.node = {1};
      snapshot.claims.set({id++}, claim);
    }
    Plan plan{.actions = {launch(1)}, .no_actions = {}};
    decide::provision::Memory memory = memory_after(plan);
    memory.pending_launches.insert(memory.pending_launches.begin(), asked(row.asked));
    Violations violations;
    const std::vector<Action> refused = guard(plan, snapshot, fleet::build(snapshot), {}, memory, violations);
    EXPECT_EQ(!plan.actions.empty(), row.allowed);
    EXPECT_EQ(refused.empty(), row.allowed);
  }
}

}  // namespace
}  // namespace capstan::control
