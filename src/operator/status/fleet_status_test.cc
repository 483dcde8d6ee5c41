#include "operator/status/fleet_status.h"

#include <gtest/gtest.h>

#include <memory>

namespace capstan::op {
namespace {

using std::chrono::seconds;

FleetPolicy policy() {
  FleetPolicy policy;
  policy.meta.name = "default";
  policy.meta.uid = "u";
  policy.meta.generation = 3;
  return policy;
}

TEST(FleetStatus, CountsTheNodesThatTheLimitsBound) {
  auto catalog = std::make_shared<model::Catalog>();
  catalog->offerings = {{.instance_type = "p5",
                         .gpu = {0},
                         .gpus = 8,
                         .zone = {0},
                         .capacity = {},
                         .price_per_hour = MicroUsd{98'320'000}}};
  model::Snapshot snapshot;
  snapshot.catalog = catalog;
  model::Node node;
  node.pool = {0};
  node.offering = {0};
  snapshot.nodes.set({0}, node);
  node.pool = {};
  snapshot.nodes.set({1}, node);  // a node that belongs to no pool
  model::Claim claim;
  claim.offering = {0};
  snapshot.claims.set({0}, claim);
  const FleetReport report = fleet_report(snapshot, "me");
  EXPECT_EQ(report.gpus, 16);
  EXPECT_EQ(report.price_per_hour, MicroUsd{196'640'000});
}

TEST(FleetStatus, MatchesTheSchema) {
  FleetPolicy halted = policy();
  halted.halt = true;
  const FleetReport report{.leader = "me", .gpus = 16, .price_per_hour = MicroUsd{196'640'000}};
  EXPECT_EQ(
      fleet_status_json(report, halted, {.unix_us = 1'795'277'733'000'000}),
      R"({"observedGeneration":3,"leader":"me","gpus":16,"usdPerHour":"196.640000","conditions":[{"type":"Halted",)"
      R"("status":"True","observedGeneration":3,"lastTransitionTime":"2026-11-21T16:15:33Z","reason":"KillSwitch",)"
      R"("message":"spec.halt is true: Capstan writes nothing except the Lease, its checkpoint, status and )"
      R"(Events; set spec.halt to false to resume"}]})");
}

TEST(FleetStatus, SaysThatTopologiesAreNotUsed) {
  FleetPolicy refused = policy();
  refused.topology_fault = "spec.topologies[0].name: found twice";
  const std::string status = fleet_status_json({.leader = "me", .gpus = 0, .price_per_hour = {}}, refused, {});
  EXPECT_NE(status.find(R"("type":"TopologiesAccepted","status":"False")"), std::string::npos) << status;
  EXPECT_NE(status.find(R"("message":"spec.topologies[0].name: found twice")"), std::string::npos) << status;
}

TEST(FleetStatus, IsWrittenWhenItChangesAndNotMoreOften) {
  FleetStatusWriter writer;
  FleetReport report{.leader = "me", .gpus = 8, .price_per_hour = {}};
  EXPECT_FALSE(writer.update(report, {}, {seconds(1)}, {})) << "there is no policy";
  EXPECT_TRUE(writer.update(report, policy(), {seconds(1)}, {}));
  EXPECT_FALSE(writer.update(report, policy(), {seconds(60)}, {})) << "one is on its way";
  writer.answered("u", true);
  EXPECT_FALSE(writer.update(report, policy(), {seconds(60)}, {}));
  report.gpus = 16;
  EXPECT_TRUE(writer.update(report, policy(), {seconds(61)}, {}));
  writer.answered("u", false);
  EXPECT_TRUE(writer.update(report, policy(), {seconds(63)}, {})) << "it did not arrive";
}

}  // namespace
}  // namespace capstan::op
