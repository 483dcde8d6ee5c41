#include "operator/status/fleet_meter.h"

#include <gtest/gtest.h>

#include "fleet/testing/world.h"

namespace capstan::op {
namespace {

using namespace std::chrono_literals;
using fleet::testing::at;
using fleet::testing::World;
using model::TopologyLevel;
using Verdict = FleetMeter::Verdict;

/// A loop whose results a test states.
struct Loop {
  World world;
  control::ActionLog log;
  decide::place::Decision placed;
  decide::provision::Decision bought;
  std::map<model::ServiceId, ServiceOrigin> services;
  FleetMeter meter;

  void pass(std::int64_t second) {
    world.snapshot.at = at(second);
    meter.note({world.snapshot, log, placed, bought, services});
  }
};

TEST(FleetMeter, MeasuresNodesFromTheirRequests) {
  Loop loop;
  const model::OfferingId offering = loop.world.offering(8, 0, 12);
  const model::PoolId pool = loop.world.pool({offering}, 64);
  const model::ClaimId good = loop.world.claim(pool, offering, model::Claim::Phase::requested, 10);
  const model::ClaimId bad = loop.world.claim(pool, offering, model::Claim::Phase::requested, 10);
  const model::ClaimId gone = loop.world.claim(pool, offering, model::Claim::Phase::launched, 10);
  loop.pass(20);
  EXPECT_EQ(loop.meter.node_waits().open, 3);

  const model::NodeId node = loop.world.node(0);
  model::Node row = loop.world.snapshot.nodes.at(node);
  row.ready_at = at(100);
  loop.world.snapshot.nodes.set(node, row);
  model::Claim claim = loop.world.snapshot.claims.at(good);
  claim.node = node;
  loop.world.snapshot.claims.set(good, claim);
  claim = loop.world.snapshot.claims.at(bad);
  claim.phase = model::Claim::Phase::failed;
  loop.world.snapshot.claims.set(bad, claim);
  loop.world.snapshot.claims.erase(gone);
  loop.pass(110);
  loop.pass(120);
  const FleetMeter::NodeWaits& waits = loop.meter.node_waits();
  EXPECT_EQ(waits.ready, 1);
  EXPECT_EQ(waits.sum, Duration(90s));
  EXPECT_EQ(waits.failed, 2);
  EXPECT_EQ(waits.open, 0);
}

TEST(FleetMeter, CountsEachActionOnceAlsoAfterANewTerm) {
  Loop loop;
  using Layer = control::LoggedAction::Layer;
  const model::Reason empty{.code = model::ReasonCode::node_empty, .numbers = {}};
  loop.log.add(at(1), Layer::provision, {model::TerminateNode{}, empty});
  loop.pass(1);
  loop.pass(2);
  model::LaunchNodes launch;
  launch.count = 3;
  loop.log.add(at(3), Layer::provision, {launch, empty});
  loop.log.add(at(3), Layer::place, {model::BindPods{}, empty});
  loop.pass(3);
  const std::map<FleetMeter::NodeAction, std::int64_t> expected = {{{"terminate", "node_empty"}, 1},
                                                                   {{"launch", "node_empty"}, 3}};
  EXPECT_EQ(loop.meter.node_actions(), expected);
  loop.meter.end();
  loop.log = {};
  loop.log.add(at(9), Layer::provision, {model::TerminateNode{}, empty});
  loop.pass(9);
  EXPECT_EQ(loop.meter.node_actions().at({"terminate", "node_empty"}), 2);
}

TEST(FleetMeter, CountsHowOftenAGangBeginsToWait) {
  Loop loop;
  const model::QueueId team = loop.world.queue(8);
  const model::GangId gang = loop.world.gang(1, 8, TopologyLevel::node);
  loop.world.enqueue(gang, team);
  const std::string queue = loop.world.catalog().queue(team).name;
  const auto pass_with = [&](std::int64_t second, std::optional<Verdict> verdict) {
    loop.placed.verdicts.clear();
    if (verdict) loop.placed.verdicts.push_back({.gang = gang, .kind = *verdict, .why = {}});
    loop.pass(second);
  };
  pass_with(1, Verdict::held_by_queue);
  pass_with(2, Verdict::held_by_queue);
  EXPECT_EQ(loop.meter.deferrals(Verdict::held_by_queue), 1);
  EXPECT_EQ(loop.meter.waiting(Verdict::held_by_queue), 1);
  EXPECT_EQ(loop.meter.queue_lengths().at(queue), 1);
  pass_with(3, Verdict::cannot_fit_now);
  EXPECT_EQ(loop.meter.waiting(Verdict::held_by_queue), 0);
  EXPECT_EQ(loop.meter.deferrals(Verdict::cannot_fit_now), 1);
  pass_with(4, Verdict::placed);
  EXPECT_EQ(loop.meter.waiting(Verdict::cannot_fit_now), 0);
  EXPECT_EQ(loop.meter.queue_lengths().at(queue), 0);
  pass_with(5, Verdict::held_by_queue);
  EXPECT_EQ(loop.meter.deferrals(Verdict::held_by_queue), 2);
}

TEST(FleetMeter, SumsWhatReplicasHoldAndNothingForTimeThatItDidNotSee) {
  Loop loop;
  const model::OfferingId offering = loop.world.offering(8, 0, 36);  // 36 USD/h
  const model::NodeId node = loop.world.node(0);
  model::Node row = loop.world.snapshot.nodes.at(node);
  row.offering = offering;
  loop.world.snapshot.nodes.set(node, row);
  loop.world.bind(loop.world.gang(1, 4, TopologyLevel::node), node);
  loop.services[model::ServiceId{0}] = {.ns = "team-a", .scaler = "chat", .scaler_uid = {}, .target = {}};
  const FleetMeter::Owner chat{"team-a", "chat"};
  loop.pass(0);
  EXPECT_EQ(loop.meter.costs().at(chat), MicroUsd{});
  loop.pass(100);
  EXPECT_EQ(loop.meter.costs().at(chat), (MicroUsd{500'000}));  // half of the node for 100 s
  loop.pass(105);                                               // too early for the next sum
  EXPECT_EQ(loop.meter.costs().at(chat), (MicroUsd{500'000}));
  loop.pass(1000);
  EXPECT_EQ(loop.meter.costs().at(chat), (MicroUsd{500'000}));
  loop.services.clear();
  loop.pass(1020);
  loop.pass(1040);
  EXPECT_EQ(loop.meter.costs().at(chat), (MicroUsd{600'000}));
}

}  // namespace
}  // namespace capstan::op
