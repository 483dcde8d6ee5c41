// Tests that the reason of a gang without room names what it lacks: GPUs, another resource, or nodes that admit it.
#include "decide/place/shortfall_reason.h"

#include <gtest/gtest.h>

#include <functional>

#include "decide/testing/placement.h"
#include "model/reason_sentence.h"

namespace capstan::decide::place::shortfall_reason_test {
namespace {

using fleet::testing::World;

/// Adds a pending gang whose pods ask for GPUs and for these other resources, and may run only on nodes of class 0.
model::GangId waiting(World& world, std::int64_t pods, std::int64_t gpus, TopologyLevel required_level,
                      model::Resources requests = {}) {
  const model::GangId id = world.gang(pods, gpus, required_level);
  world.classify(id, world.pod_class({true, false}, std::move(requests)));
  return id;
}

model::NodeId node(World& world, std::size_t nvlink, std::uint32_t node_class, model::Resources available) {
  const model::NodeId id = world.node(nvlink);
  world.classify(id, model::NodeClassId{node_class});
  world.set_available(id, std::move(available));
  return id;
}

struct Row {
  const char* what;
  std::function<void(World&)> build;
  const char* why;  ///< sentence of the verdict
};

const Row kRows[] = {
    {"GPUs are in use",
     [](World& world) {
       world.pool({world.offering(8, 0, 10)}, 64);
       node(world, 0, 0, {.cpu_milli = 90'000});
       waiting(world, 2, 8, TopologyLevel::rack, {.cpu_milli = 1'000});
     },
     "the gang is short of 8 H100 GPUs: it needs 16 in one rack, and the best fit, rack \"rack-0\", has 8 free"},
    {"the nodes lack CPU",
     [](World& world) {
       for (int i = 0; i < 2; ++i) node(world, 0, 0, {.cpu_milli = 90'000});
       waiting(world, 2, 8, TopologyLevel::rack, {.cpu_milli = 95'000});
     },
     "the gang is short of CPU: each pod needs 95 CPUs, and the nodes with free GPUs in the best fit, rack \"rack-0\", "
     "have at most 90 CPUs left each, so 2 pods of the gang find no room in the same rack"},
    {"a full node comes before the one that lacks CPU",
     [](World& world) {
       world.bind(world.gang(1, 8, TopologyLevel::node), node(world, 0, 0, {.cpu_milli = 90'000}));
       node(world, 0, 0, {.cpu_milli = 90'000});
       waiting(world, 2, 4, TopologyLevel::node, {.cpu_milli = 80'000});
     },
     "the gang is short of CPU: each pod needs 80 CPUs, and the nodes with free GPUs in the best fit have at most 90 "
     "CPUs left each, so 1 pod of the gang finds no room in the same node"},
    {"no node has the extended resource",
     [](World& world) {
       world.catalog().extended_resources = {"rdma/hca"};
       node(world, 0, 0, {.cpu_milli = 90'000});
       waiting(world, 1, 8, TopologyLevel::rack, {.extended = {1}});
     },
     "the gang is short of rdma/hca: each pod needs 1, and the nodes with free GPUs in the best fit, rack \"rack-0\", "
     "have at most 0 left each, so 1 pod of the gang finds no room in the same rack"},
    {"labels exclude the nodes with free GPUs",
     [](World& world) {
       world.pool({world.offering(8, 0, 10)}, 64);
       node(world, 0, 0, {});
       for (int i = 0; i < 2; ++i) node(world, 4, 1, {});
       waiting(world, 2, 8, TopologyLevel::rack);
     },
     "labels or taints exclude the pods from nodes with free GPUs: the gang needs 16 H100 GPUs in one rack; one rack "
     "(rack \"rack-2\") has 16 free, but the nodes that may run the pods have at most 8 free in one rack"},
    {"the free GPUs are on too many nodes",
     [](World& world) {
       for (int i = 0; i < 2; ++i) world.bind(world.gang(1, 3, TopologyLevel::node), node(world, 0, 0, {}));
       waiting(world, 1, 8, TopologyLevel::rack);
     },
     "the free GPUs are scattered: 0 of 1 pod with 8 GPUs each fit into one rack, although the best fit, rack "
     "\"rack-0\", has 10 GPUs free"},
    {"no node admits the pods",
     [](World& world) {
       for (int i = 0; i < 2; ++i) node(world, 0, 1, {});
       waiting(world, 2, 8, TopologyLevel::rack);
     },
     "labels, taints or ResourceClaims exclude the pods: the gang needs 16 H100 GPUs in one rack, and the existing "
     "and new nodes that may run its pods have at most 0"},
    {"the purchase does not admit the pods either",
     [](World& world) {
       const model::OfferingId offering = world.offering(8, 0, 10);
       world.catalog().eligibility.purchases = {{{world.pool({offering}, 64), offering}, {1}}};
       waiting(world, 2, 8, TopologyLevel::rack);
     },
     "labels, taints or ResourceClaims exclude the pods: the gang needs 16 H100 GPUs in one rack, and the existing "
     "and new nodes that may run its pods have at most 0"},
    {"the gang is larger than everything",
     [](World& world) {
       node(world, 0, 1, {});
       waiting(world, 2, 8, TopologyLevel::rack);
     },
     "the gang needs 16 H100 GPUs in one rack; the largest one that exists has 0, and the limits let no pool buy any: "
     "raise a "
     "limit, add an instance type, or use fewer GPUs"},
};

TEST(ShortfallReason, TheVerdictNamesWhatIsShort) {
  for (const Row& row : kRows) {
    World world;
    row.build(world);
    const Decision decision = place_once(world, {});
    const auto& verdict = decision.verdicts.back();
    EXPECT_EQ(sentence(verdict.why, *world.snapshot.catalog), row.why) << row.what;
    for (const Shortfall& lack : decision.shortfalls) EXPECT_EQ(lack.why, verdict.why) << row.what;
  }
}

TEST(PodsMissing, AGangWithFewerPodsThanItNeedsIsNotPlaced) {
  World world;
  world.node(0);
  const model::GangId id = world.gang(2, 1, TopologyLevel::rack);
  model::Gang gang = world.snapshot.gangs.at(id);
  gang.spec.pods.minimum = 5;
  world.snapshot.gangs.set(id, gang);
  const Decision decision = place_once(world, {});
  EXPECT_TRUE(decision.plan.actions.empty());
  EXPECT_TRUE(decision.shortfalls.empty()) << "no node is bought for it";
  EXPECT_EQ(decision.verdicts.at(0).why, (model::Reason{model::ReasonCode::pods_missing, {2, 5}}));
  gang.spec.pods.minimum = 2;
  world.snapshot.gangs.set(id, gang);
  EXPECT_EQ(place_once(world, {}).verdicts.at(0).kind, PlacementResult::Kind::placed);
}

}  // namespace
}  // namespace capstan::decide::place::shortfall_reason_test
