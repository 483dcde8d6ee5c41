// Tests what is known about the resources of nodes that could be bought.
#include "decide/place/new_nodes.h"

#include <gtest/gtest.h>

#include <utility>

#include "decide/testing/both_layers.h"

namespace capstan::decide::provision::new_nodes_test {
namespace {

/// A rack with nodes of one type, and a gang whose pod asks for eight GPUs and other resources.
struct Rack {
  explicit Rack(model::Resources requests) {
    world.catalog().extended_resources = {"rdma/hca"};
    offering = world.offering(8, 0, 10);
    world.catalog().offerings[offering.value].instance_type = "p5";
    pool = world.pool({offering}, 640);
    gang = world.gang(1, 8, TopologyLevel::rack, 0);
    world.classify(gang, world.pod_class({true}, std::move(requests)));
  }
  model::NodeId node(const model::Resources& available, model::OfferingId bought) {
    const model::NodeId id = world.node(0);
    model::Node row = world.snapshot.nodes.at(id);
    row.pool = pool, row.offering = bought, row.available = available;
    world.snapshot.nodes.set(id, row);
    return id;
  }
  Decision decided(const Policy& policy, Memory& memory, std::int64_t now_s = 100) {
    return run(world, policy, memory, now_s);
  }
  Decision decided(const Policy& policy) {
    Memory memory;
    return decided(policy, memory);
  }

  World world;
  model::OfferingId offering;
  model::PoolId pool;
  model::GangId gang;
};

struct Row {
  const char* what;
  model::Resources requests;
  model::Resources available;  ///< resources of the empty node
  model::ReasonNumbers why;    ///< resource, amounts needed and left, offering, pods
};
const Row kLacks[] = {
    {"CPU", {.cpu_milli = 96'000}, {.cpu_milli = 90'000, .pod_slots = 9}, {0, 96'000, 90'000, 0, 1}},
    {"memory", {.memory_mib = 2'048}, {.cpu_milli = 90'000, .memory_mib = 1'024}, {1, 2'048, 1'024, 0, 1}},
    {"an extended resource", {.extended = {1}}, {.cpu_milli = 90'000}, {4, 1, 0, 0, 1}},
};

TEST(NewNodes, NoNodeIsBoughtIfAnEmptyOneOfItsTypeDoesNotHelp) {
  for (const Row& row : kLacks) {
    for (const Policy& policy : {groups(), at_once()}) {
      Rack rack(row.requests);
      EXPECT_EQ(launches(rack.decided(policy)).size(), 1U) << row.what << ": no node shows what the type has";
      rack.node(row.available, rack.offering);
      const Decision decision = rack.decided(policy);
      EXPECT_TRUE(launches(decision).empty()) << row.what;
      ASSERT_EQ(decision.plan.no_actions.size(), 1U) << row.what;
      EXPECT_EQ(decision.plan.no_actions[0].why, (model::Reason{model::ReasonCode::node_lacks_resource, row.why}));
    }
  }
}

TEST(NewNodes, ANodeInUseOrOfAnotherPoolDoesNotShowWhatAnEmptyOneHas) {
  Rack used({.cpu_milli = 96'000});
  const model::NodeId node = used.node({.cpu_milli = 10'000}, used.offering);
  used.world.bind(used.world.gang(1, 1, TopologyLevel::node), node);
  EXPECT_EQ(launches(used.decided(groups())).size(), 1U) << "its pods hold the CPUs";

  Rack other({.extended = {1}});
  other.node({.cpu_milli = 10'000}, other.offering);
  const model::PoolId second = other.world.pool({other.offering}, 640);
  const auto bought = launches(other.decided(groups()));
  ASSERT_EQ(bought.size(), 1U) << "nodes of another pool may have other device plugins";
  EXPECT_EQ(bought[0].pool, second);
}

TEST(NewNodes, ATypeHasWhatItsBestEmptyNodeHasInEveryZone) {
  Rack rack({.cpu_milli = 96'000});
  rack.node({.cpu_milli = 90'000}, rack.offering);
  const model::OfferingId elsewhere = rack.world.offering(8, 1, 10);
  rack.world.catalog().offerings[elsewhere.value].instance_type = "p5";
  rack.world.catalog().pools[rack.pool.value].offerings.push_back(elsewhere);
  EXPECT_TRUE(launches(rack.decided(groups())).empty()) << "the same type in another zone";
  rack.world.catalog().offerings[elsewhere.value].instance_type = "p6";
  EXPECT_EQ(launches(rack.decided(groups())).size(), 1U) << "another type";
  rack.world.catalog().offerings[elsewhere.value].instance_type = "p5";
  // The gang may not run on the better node, but the node shows what its type has.
  rack.world.classify(rack.node({.cpu_milli = 100'000}, elsewhere), model::NodeClassId{1});
  EXPECT_EQ(launches(rack.decided(groups())).size(), 1U) << "an empty node of the type has enough";
}

TEST(NewNodes, AStatedAmountAndAnEmptyNodeLimitTogether) {
  Rack rack({.cpu_milli = 1'000, .memory_mib = 64});
  rack.world.catalog().instance_types = {{.name = "p5", .cpu_milli = 500}};
  rack.world.catalog().offerings[rack.offering.value].type = {0};
  rack.node({.cpu_milli = 2'000, .memory_mib = 32}, rack.offering);
  const Index index = fleet::build(rack.world.snapshot);
  const place::NewNodes known(rack.world.snapshot, index.rooms);
  const model::Resources amounts = *known.resources_of({rack.pool, rack.offering});
  EXPECT_EQ(amounts.cpu_milli, 500);
  EXPECT_EQ(amounts.memory_mib, 32);
}

TEST(NewNodes, AnEmptyNodeThatDoesNotHelpItsGangIsGivenBack) {
  for (const std::int64_t cpu_milli : {90'000, 96'000}) {
    Rack rack({.cpu_milli = 96'000});
    model::Gang gang = rack.world.snapshot.gangs.at(rack.gang);
    rack.node({.cpu_milli = cpu_milli}, rack.offering);
    // This gang has two pods, so that a node with room for one of them does not end its wait.
    const model::GangId two = rack.world.gang(2, 8, TopologyLevel::rack, 1);
    rack.world.classify(two, gang.spec.pods.pod_class);
    rack.world.snapshot.gangs.erase(rack.gang);
    for (const model::PodId pod : gang.pods) rack.world.snapshot.pods.erase(pod);
    rack.world.catalog().pools[rack.pool.value].limits.gpus = 16;
    Memory memory;
    rack.decided(whole_groups(), memory, 0);
    const bool helps = cpu_milli == 96'000;
    EXPECT_EQ(ended(rack.decided(whole_groups(), memory, 3'610)).size(), helps ? 0U : 1U) << cpu_milli;
  }
}

}  // namespace
}  // namespace capstan::decide::provision::new_nodes_test
