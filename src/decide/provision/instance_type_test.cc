// Tests that CPU and memory of a node to be bought count, if its instance type states them.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "decide/testing/both_layers.h"

namespace capstan::decide::provision::instance_type_test {
namespace {

/// A pool with a cheap offering of 48 CPUs and an expensive one of 192 CPUs, each with eight GPUs.
struct TwoTypes {
  TwoTypes() {
    small = world.offering(8, 0, 10), large = world.offering(8, 0, 20);
    world.pool({small, large}, 640);
    world.catalog().instance_types = {{.name = "small", .cpu_milli = 48'000},
                                      {.name = "large", .cpu_milli = 192'000, .memory_mib = 1'024}};
    for (const model::OfferingId id : {small, large}) world.catalog().offerings[id.value].type = {id.value};
  }
  /// Adds a gang of pods, each with one GPU and these resources.
  model::GangId gang(std::int64_t pods, model::Resources requests, TopologyLevel required_level = TopologyLevel::node) {
    const model::GangId id = world.gang(pods, 1, required_level, 0);
    world.classify(id, world.pod_class({}, std::move(requests)));
    return id;
  }
  std::vector<model::LaunchNodes> bought(const Policy& policy) {
    Memory memory;
    decision = run(world, policy, memory, 100);
    return launches(decision);
  }

  World world;
  model::OfferingId small, large;
  Decision decision;
};

TEST(InstanceType, APodOf96CpusIsNotSolvedByANodeOf48) {
  for (const Policy& policy : {groups(), at_once()}) {
    TwoTypes two;
    two.gang(1, {.cpu_milli = 96'000});
    const auto bought = two.bought(policy);
    ASSERT_EQ(bought.size(), 1U);
    EXPECT_EQ(bought[0].offering, two.large);
  }
}

TEST(InstanceType, NothingIsBoughtForAPodThatNoTypeHolds) {
  for (const Policy& policy : {groups(), at_once()}) {
    TwoTypes two;
    two.gang(1, {.cpu_milli = 8'000, .memory_mib = 4'096});
    two.world.catalog().instance_types[0].memory_mib = 2'048;
    EXPECT_TRUE(two.bought(policy).empty());
    EXPECT_TRUE(kept_for(two.decision, model::ReasonCode::node_lacks_resource));
  }
}

TEST(InstanceType, StorageSlotsAndExtendedResourcesExcludeTypesThatLackThem) {
  struct Row {
    const char* title;
    std::int64_t pods;
    model::Resources each;
    void (*lower)(model::InstanceType&);  ///< gives a type too little of the resource
    std::int64_t resource;                ///< its number in reasons
  };
  const Row rows[] = {
      {"storage", 1, {.storage_mib = 2'000}, [](model::InstanceType& type) { type.storage_mib = 1'999; }, 2},
      {"pod slots", 8, {.pod_slots = 1}, [](model::InstanceType& type) { type.pod_slots = 7; }, 3},
      {"MIG", 1, {.extended = {3}}, [](model::InstanceType& type) { type.extended = std::vector<std::int64_t>{2}; }, 4},
      {"no MIG", 1, {.extended = {3}}, [](model::InstanceType& type) { type.extended.emplace(); }, 4},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.title);
    TwoTypes two;
    two.world.catalog().extended_resources = {"nvidia.com/mig-1g.10gb"};
    two.gang(row.pods, row.each);
    row.lower(two.world.catalog().instance_types[0]);
    const auto bought = two.bought(groups());
    ASSERT_EQ(bought.size(), 1U);
    EXPECT_EQ(bought[0].offering, two.large) << "the cheaper type has too little";
    row.lower(two.world.catalog().instance_types[1]);
    EXPECT_TRUE(two.bought(groups()).empty());
    const auto& kept = two.decision.plan.no_actions;
    const auto lacks = std::ranges::find(kept, model::ReasonCode::node_lacks_resource,
                                         [](const model::Plan::NoAction& none) { return none.why.code; });
    ASSERT_NE(lacks, kept.end());
    EXPECT_EQ(lacks->why.numbers[0], row.resource);
  }
}

TEST(InstanceType, TheReasonForALaunchSaysThatTheSizeOfItsNodesIsNotKnown) {
  for (const bool is_known : {true, false}) {
    TwoTypes two;
    two.gang(1, {.cpu_milli = 4'000});
    if (!is_known) {
      for (const model::OfferingId id : {two.small, two.large}) two.world.catalog().offerings[id.value].type = {};
    }
    ASSERT_EQ(two.bought(groups()).size(), 1U);
    const model::Reason& why = two.decision.plan.actions.front().why;
    EXPECT_EQ(why.code, is_known ? model::ReasonCode::launch_for_gang : model::ReasonCode::launch_of_unknown_size);
    if (!is_known) {
      EXPECT_EQ(why.numbers[2], two.small.value);
    }
  }
}

TEST(InstanceType, AnAmountThatIsNotStatedLimitsNothing) {
  TwoTypes two;
  two.gang(8, {.cpu_milli = 4'000, .memory_mib = 1'000'000, .storage_mib = 10'000, .pod_slots = 1});
  const auto bought = two.bought(groups());
  ASSERT_EQ(bought.size(), 1U);
  EXPECT_EQ(bought[0].offering, two.small) << "it states no memory";
}

TEST(InstanceType, AGangGetsAsManyNodesAsItsCpusNeed) {
  TwoTypes two;
  two.world.catalog().offerings[two.large.value].price_per_hour = MicroUsd{100'000'000};
  two.gang(8, {.cpu_milli = 24'000}, TopologyLevel::rack);
  const auto bought = two.bought(groups());
  ASSERT_EQ(bought.size(), 1U);
  EXPECT_EQ(bought[0].offering, two.small);
  EXPECT_EQ(bought[0].count, 4) << "two pods of 24 CPUs fit on a node of 48";
}

TEST(InstanceType, TwoGangsDoNotShareTheCpusOfANodeOnItsWay) {
  TwoTypes two;
  const model::GangId first = two.gang(1, {.cpu_milli = 40'000}), second = two.gang(1, {.cpu_milli = 40'000});
  EXPECT_NE(first, second);
  const auto bought = two.bought(groups());
  ASSERT_EQ(bought.size(), 2U) << "the node of the first gang has 8 CPUs left";
  EXPECT_EQ(bought[1].offering, two.small);
}

TEST(InstanceType, PodsOfOneBinShareTheCpusOfTheNode) {
  TwoTypes two;
  two.world.catalog().offerings[two.large.value].price_per_hour = MicroUsd{100'000'000};
  two.gang(3, {.cpu_milli = 24'000}, TopologyLevel::rack);
  const auto bought = two.bought(at_once());
  ASSERT_EQ(bought.size(), 1U);
  EXPECT_EQ(bought[0].offering, two.large) << "a bin is filled as far as some offering holds it";
}

TEST(InstanceType, SharesOfGpusNeedWholeDevices) {
  World world;
  world.pool({world.offering(2, 0, 10)}, 64);
  const model::GangId id = world.gang(3, 1, TopologyLevel::rack);
  model::Gang gang = world.snapshot.gangs.at(id);
  gang.spec.pods.gpus_per_pod = {600};
  world.snapshot.gangs.set(id, gang);
  for (const model::PodId pod_id : gang.pods) {
    model::Pod pod = world.snapshot.pods.at(pod_id);
    pod.gpus = {600};
    world.snapshot.pods.set(pod_id, pod);
  }
  for (const Policy& policy : {groups(), at_once()}) {
    Memory memory;
    std::int64_t nodes = 0;
    for (const model::LaunchNodes& launch : launches(run(world, policy, memory, 100))) nodes += launch.count;
    EXPECT_EQ(nodes, 2) << "1.8 GPUs in shares of 0.6 need three devices";
  }
}

}  // namespace
}  // namespace capstan::decide::provision::instance_type_test
