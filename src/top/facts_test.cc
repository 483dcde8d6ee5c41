#include "top/facts.h"

#include <gtest/gtest.h>

#include "archive/testing.h"

namespace capstan::top {
namespace {

using fleet::testing::at;
using fleet::testing::World;
using model::TopologyLevel;

/// Two nodes of a spot pool, with a serving replica, a starting one, and one that needs more GPUs than are free on a
/// node. A third node is on its way.
archive::SavedState small() {
  World world;
  const model::OfferingId offering = world.offering(8, 0, 12);
  world.catalog().offerings.back().capacity = model::CapacityType::spot;
  const model::PoolId pool = world.pool({offering}, 64);
  const model::NodeId first = world.node(0), second = world.node(1);
  for (const model::NodeId id : {first, second}) {
    archive::testing::change_row(world.snapshot.nodes, id, [&](model::Node& node) { node.offering = offering; });
  }
  world.bind(world.gang(1, 6, TopologyLevel::node, 10), first);
  world.gang(1, 8, TopologyLevel::node, 40);
  const model::GangId starting = world.gang(1, 4, TopologyLevel::node, 50);
  world.bind(starting, second, model::Gang::Phase::starting);
  archive::testing::change_row(world.snapshot.gangs, starting,
                               [](model::Gang& gang) { gang.expected_ready_at = at(180); });
  const model::ClaimId claim = world.claim(pool, offering, model::Claim::Phase::launched, 60);
  archive::testing::change_row(world.snapshot.claims, claim,
                               [](model::Claim& row) { row.expected_ready_at = at(160); });
  archive::SavedState state = archive::testing::state_of(world, at(100));
  state.snapshot = world.snapshot;
  state.snapshot.at = at(100);
  state.policies.name = "small";
  state.names.nodes.set(first, "node-a");
  return state;
}

Facts facts_of_small() {
  const archive::SavedState state = small();
  return facts_of(state, archive::redecide(state));
}

TEST(Facts, NodesShowWhoHoldsTheirGpus) {
  const Facts facts = facts_of_small();
  ASSERT_EQ(facts.nodes.size(), 3u);
  const NodeFacts& first = facts.nodes[0];
  EXPECT_EQ(first.name, "node-a");
  EXPECT_EQ(first.capacity, "spot");
  EXPECT_EQ(first.per_hour, (MicroUsd{12'000'000}));
  EXPECT_EQ(at(first.uses, GpuUse::serving), whole_gpus(6));
  EXPECT_EQ(first.pods, 1);
  EXPECT_EQ(facts.nodes[1].name, "node 1");
  EXPECT_EQ(at(facts.nodes[1].uses, GpuUse::starting), whole_gpus(4));
  const NodeFacts& launching = facts.nodes[2];
  EXPECT_EQ(launching.state, NodeFacts::State::launching);
  EXPECT_EQ(launching.age, std::chrono::seconds(40));
  EXPECT_EQ(launching.ready_in, Duration(std::chrono::seconds(60)));
  EXPECT_EQ(at(launching.uses, GpuUse::unusable), whole_gpus(8));
  EXPECT_EQ(facts.totals.nodes, 3);
  EXPECT_EQ(facts.totals.launching, 1);
  EXPECT_EQ(facts.totals.per_hour, (MicroUsd{36'000'000}));
  EXPECT_EQ(allocated(facts.totals.uses), whole_gpus(10));
}

TEST(Facts, NodesWithoutGpusAreLeftOut) {
  archive::SavedState state = small();
  state.snapshot.nodes.set({9}, model::Node{});
  EXPECT_EQ(facts_of(state, archive::redecide(state)).nodes.size(), 3u);
}

TEST(Facts, GpusAreStrandedWhereNoReplicaFits) {
  archive::SavedState state = small();
  auto catalog = std::make_shared<model::Catalog>(*state.snapshot.catalog);
  model::Workload& workload = catalog->services.front().workload;
  const auto free_gpus = [&](std::int32_t pods, std::int32_t gpus, TopologyLevel required_level) {
    workload.pods = pods, workload.gpus_per_replica = gpus, workload.required_level = required_level;
    workload.gpu = state.snapshot.nodes.at(model::NodeId{0}).gpu;
    state.snapshot.catalog = std::make_shared<model::Catalog>(*catalog);
    return gpus_up(at(facts_of(state, archive::redecide(state)).totals.uses, GpuUse::free));
  };
  // 2 GPUs are free on the first node and 4 on the second, in two NVLink domains of one rack.
  EXPECT_EQ(free_gpus(1, 2, TopologyLevel::node), 6);
  EXPECT_EQ(free_gpus(1, 4, TopologyLevel::node), 4);
  EXPECT_EQ(free_gpus(1, 5, TopologyLevel::node), 0);
  EXPECT_EQ(free_gpus(2, 4, TopologyLevel::nvlink), 4);
  EXPECT_EQ(free_gpus(3, 6, TopologyLevel::rack), 6);
  EXPECT_EQ(free_gpus(2, 6, TopologyLevel::rack), 0);
}

TEST(Facts, ReplicasThatWaitComeFirstWithTheirReason) {
  const Facts facts = facts_of_small();
  ASSERT_EQ(facts.replicas.size(), 3u);
  EXPECT_EQ(facts.replicas[0].phase, model::Gang::Phase::pending);
  EXPECT_EQ(facts.replicas[0].age, std::chrono::seconds(60));
  EXPECT_NE(facts.replicas[0].limit.layer, explain::Layer::none);
  EXPECT_FALSE(facts.replicas[0].limit.text.empty());
  EXPECT_EQ(facts.replicas[1].phase, model::Gang::Phase::starting);
  EXPECT_EQ(facts.replicas[1].ready_in, Duration(std::chrono::seconds(80)));
  EXPECT_EQ(facts.replicas[1].nodes, "node 1");
  EXPECT_EQ(facts.replicas[2].phase, model::Gang::Phase::ready);
  EXPECT_EQ(facts.totals.replicas.all(), 3);
  EXPECT_EQ(facts.totals.others.all(), 0);
}

TEST(Facts, AJobIsNoReplica) {
  archive::SavedState state = small();
  model::Gang job = state.snapshot.gangs.at(model::GangId{0});
  job.service = {};
  state.snapshot.gangs.set(model::GangId{0}, job);
  state.names.gangs.set(model::GangId{0}, "eval 7");
  const Facts facts = facts_of(state, archive::redecide(state));
  EXPECT_EQ(facts.totals.replicas.all(), 2);
  EXPECT_EQ(facts.totals.others.all(), 1);
  EXPECT_EQ(std::ranges::count(facts.replicas, "eval 7", &ReplicaFacts::name), 1);
}

TEST(Facts, LateSharesThatNoReplicaReportsAreUnknown) {
  archive::SavedState state = small();
  const auto service = [&] { return facts_of(state, archive::redecide(state)).services.at(0); };
  EXPECT_FALSE(service().late_ppm);
  EXPECT_FALSE(service().ttft_p99_us);
  EXPECT_EQ(service().replicas.ready, 1);
  model::ReplicaSignals signals;
  signals.ttft_late_ppm = model::Signal::measured(20'000);
  signals.tpot_late_ppm = model::Signal::measured(50'000);
  signals.waiting = model::Signal::measured(7);
  signals.ttft_p99_us = model::Signal::measured(1'500'000);
  state.snapshot.signals.set(model::GangId{0}, signals);
  EXPECT_EQ(service().late_ppm, 50'000);
  EXPECT_EQ(service().waiting, 7);
  EXPECT_EQ(service().ttft_p99_us, 1'500'000);
}

TEST(Facts, EveryKindOfRowHasFacts) {
  archive::SavedState state{
      .snapshot = archive::testing::full_snapshot(), .names = {}, .policies = {"any", {}, {}, {}}, .memory = {}};
  state.policies.scale.assign(state.snapshot.catalog->services.size(), decide::scale::Fixed{0});
  state.policies.place.emplace();
  state.policies.provision.emplace();
  state.memory.scale.resize(state.policies.scale.size());
  const Facts facts = facts_of(state, archive::redecide(state));
  std::size_t claims = 0;
  state.snapshot.claims.for_each([&](model::ClaimId, const model::Claim& claim) {
    claims += claim.phase != model::Claim::Phase::failed && !state.snapshot.nodes.find(claim.node) ? 1 : 0;
  });
  EXPECT_EQ(facts.nodes.size(), state.snapshot.nodes.size() + claims);
  EXPECT_EQ(facts.replicas.size(), state.snapshot.gangs.size());
  EXPECT_EQ(facts.services.size(), state.snapshot.services.size());
  for (const NodeFacts& node : facts.nodes) {
    for (const MilliGpu& part : node.uses) EXPECT_GE(part, MilliGpu{}) << node.name;
  }
}

}  // namespace
}  // namespace capstan::top
