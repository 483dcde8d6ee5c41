#include "control/guards.h"

#include <gtest/gtest.h>

#include <memory>

namespace capstan::control {
namespace {

using model::Action;
using model::Plan;

/// One service of at most 4 replicas, one pool of at most 16 GPUs with a node of 8 in it, one ready gang of two pods of
/// which none is bound by the row's action yet.
model::Snapshot world() {
  auto catalog = std::make_shared<model::Catalog>();
  model::Service service;
  service.max_replicas = 4;
  catalog->services = {service};
  catalog->offerings = {
      {.instance_type = "eight", .gpu = {0}, .gpus = 8, .zone = {0}, .capacity = {}, .price_per_hour = {}}};
  catalog->pools = {{.name = "pool", .offerings = {{0}}, .gpu_limit = 16}};
  model::Snapshot snapshot;
  snapshot.catalog = catalog;
  snapshot.services.set({0}, {.desired_replicas = 3, .gateway_waiting = {}});
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

Action replicas(ReplicaCount n) { return {model::SetReplicas{{0}, {0}, n, {}}, {}}; }
Action launch(std::int64_t nodes) { return {model::LaunchNodes{{0}, {0}, {}, nodes, {}, {}}, {}}; }
Action bind(std::vector<std::uint32_t> pods) {
  model::BindPods what{.gang = {0}, .bindings = {}};
  for (std::uint32_t pod : pods) what.bindings.push_back({{pod}, {0}});
  return {what, {}};
}

struct Row {
  const char* teaches;
  std::vector<Action> actions;
  std::size_t allowed;
  std::int64_t partial, blind, limit;
};

const Row kRows[] = {
    {"up to the maximum is allowed", {replicas(4)}, 1, 0, 0, 0},
    {"above it is taken out", {replicas(5)}, 0, 0, 0, 1},
    {"lowering while a ready replica is silent counts", {replicas(2)}, 1, 0, 1, 0},
    {"one node fits under the pool's limit", {launch(1)}, 1, 0, 0, 0},
    {"two do not", {launch(2)}, 0, 0, 0, 1},
    {"what the same plan launches counts", {launch(1), launch(1)}, 1, 0, 0, 1},
    {"a whole gang at once", {bind({0, 1})}, 1, 0, 0, 0},
    {"a part of a gang counts", {bind({0})}, 1, 1, 0, 0},
};

TEST(Guards, Rows) {
  const model::Snapshot snapshot = world();
  const decide::Index index = decide::build(snapshot);
  for (const Row& row : kRows) {
    SCOPED_TRACE(row.teaches);
    Plan plan{.actions = row.actions, .kept = {}};
    Violations violations;
    guard(plan, snapshot, index, violations);
    EXPECT_EQ(plan.actions.size(), row.allowed);
    EXPECT_EQ(violations.partial_gang, row.partial);
    EXPECT_EQ(violations.lowered_blind, row.blind);
    EXPECT_EQ(violations.limit_exceeded, row.limit);
  }
}

TEST(Guards, AClaimOnItsWayCountsAgainstTheLimit) {
  model::Snapshot snapshot = world();
  model::Claim claim;
  claim.pool = {0};
  claim.offering = {0};
  snapshot.claims.set({0}, claim);
  Plan plan{.actions = {launch(1)}, .kept = {}};
  Violations violations;
  guard(plan, snapshot, decide::build(snapshot), violations);
  EXPECT_TRUE(plan.actions.empty());
}

}  // namespace
}  // namespace capstan::control
