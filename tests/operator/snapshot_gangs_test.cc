// Gangs that wait for Capstan, the offerings of pools, and the claims of a launch.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <vector>

#include "actuate/bind_intent.h"
#include "actuate/node_claim.h"
#include "fleet/index.h"
#include "objects.h"
#include "operator/snapshot/snapshot_builder.h"
#include "operator/snapshot/waiting_gangs.h"
#include "operator/view/admission.h"

namespace capstan::op {
namespace {

using testing::Cluster;
using testing::Object;

/// Returns a pod that Capstan places, in a gang if one is named.
Object waiting_pod(const std::string& name, const std::string& gang = "", int min = 1, int gpus = 8) {
  Object pod = testing::pod(name, "work", "", false, gpus);
  pod["spec"]["schedulerName"] = "capstan";
  if (!gang.empty()) {
    pod["metadata"]["annotations"] = {{"capstan.dev/gang", gang}, {"capstan.dev/gang-min", std::to_string(min)}};
  }
  return pod;
}

Object pool(const std::string& name = "gpu") {
  return {
      {"metadata", {{"name", name}, {"uid", name}}},
      {"spec",
       {{"limits", {{"nvidia.com/gpu", "16"}}},
        {"template",
         {{"spec",
           {{"requirements",
             {{{"key", "topology.kubernetes.io/zone"}, {"operator", "In"}, {"values", {"a", "b"}}},
              {{"key", "karpenter.sh/capacity-type"}, {"operator", "In"}, {"values", {"spot", "on-demand"}}}}}}}}}}}};
}

struct SnapshotGangs : ::testing::Test {
  SnapshotGangs() {
    policy["metadata"] = {{"name", "default"}};
    policy["spec"] = {{"layers", {{"placement", "Active"}, {"nodes", "Active"}}},
                      {"instanceTypes", {{{"name", "p5"}, {"gpu", "H100"}, {"gpus", 8}, {"usdPerHour", "98.32"}}}}};
    cluster.fleet.put(policy);
  }
  const model::Snapshot& build() {
    seen = builder.build(cluster.view(), {}, {});
    return seen.snapshot;
  }

  Object policy;
  Cluster cluster;
  SnapshotBuilder builder;
  SnapshotBuilder::Output seen;
};

TEST_F(SnapshotGangs, AGangHasARowFromItsFirstPodOn) {
  cluster.pods.put(waiting_pod("a", "g", 2));
  ASSERT_EQ(build().gangs.size(), 1u) << "one pod of two: its verdict says that a pod is missing";
  EXPECT_EQ(seen.snapshot.gangs.at({0}).pods.size(), 1u);
  EXPECT_EQ(seen.snapshot.gangs.at({0}).spec.pods.minimum, 2);
  cluster.pods.put(waiting_pod("b", "g", 2));
  ASSERT_EQ(build().gangs.size(), 1u);
  const model::Gang& gang = seen.snapshot.gangs.at({0});
  EXPECT_EQ(gang.phase, model::Gang::Phase::pending);
  EXPECT_EQ(gang.pods.size(), 2u);
  EXPECT_EQ(gang.spec.pods.gpus_per_pod, whole_gpus(8));
  EXPECT_EQ(gang.spec.required_level, model::TopologyLevel::cluster);
}

TEST_F(SnapshotGangs, AGangHasTheHighestPriorityOfItsPods) {
  cluster.pods.put(waiting_pod("none"));
  for (const auto& [name, priority] : {std::pair("a", -10), {"b", -5}}) {
    Object pod = waiting_pod(name, "g", 2);
    pod["spec"]["priority"] = priority;
    cluster.pods.put(pod);
  }
  Object critical = waiting_pod("critical");
  critical["spec"]["priority"] = 2'000'001'000;
  cluster.pods.put(critical);
  std::map<std::size_t, std::vector<std::int32_t>> priorities;  // by number of pods
  build().gangs.for_each(
      [&](model::GangId, const model::Gang& gang) { priorities[gang.pods.size()].push_back(gang.spec.priority); });
  EXPECT_EQ(priorities[2], (std::vector{-5}));
  std::ranges::sort(priorities[1]);
  EXPECT_EQ(priorities[1], (std::vector{0, 2'000'001'000}));
}

TEST_F(SnapshotGangs, ALeaderWithoutGpusIsAPodSetOfItsOwn) {
  cluster.nodes.put(testing::node("gpu-1"));
  for (const char* name : {"set-0", "set-0-1", "set-0-2"}) {
    Object pod = waiting_pod(name, "", 1, std::string_view(name) == "set-0" ? 0 : 8);
    pod["metadata"]["labels"] = {{"leaderworkerset.sigs.k8s.io/name", "set"},
                                 {"leaderworkerset.sigs.k8s.io/group-index", "0"}};
    pod["metadata"]["annotations"] = {{"leaderworkerset.sigs.k8s.io/size", "3"}};
    cluster.pods.put(pod);
  }
  ASSERT_EQ(build().gangs.size(), 1u);
  const model::Gang& gang = seen.snapshot.gangs.at({0});
  EXPECT_EQ(gang.spec.pods.gpus_per_pod, whole_gpus(8));
  EXPECT_EQ(gang.spec.pods.count, 2);
  ASSERT_EQ(gang.spec.other_pods.size(), 1u);
  EXPECT_EQ(gang.spec.other_pods[0].gpus_per_pod, MilliGpu{});
  EXPECT_EQ(gang.spec.other_pods[0].count, 1);
  EXPECT_TRUE(gang.spec.other_pods[0].pod_class.valid());
  EXPECT_EQ(gang.spec.needed(), 3);
  std::vector<int> sets;
  for (const model::PodId pod : gang.pods) sets.push_back(seen.snapshot.pods.at(pod).set);
  EXPECT_EQ(sets, (std::vector{1, 0, 0}));
  cluster.pods.remove("work/set-0-2");
  ASSERT_EQ(build().gangs.size(), 1u);
  EXPECT_EQ(seen.snapshot.gangs.at({0}).spec.needed(), 3) << "a worker is missing";
  EXPECT_EQ(seen.snapshot.gangs.at({0}).spec.pods.count, 2);
}

TEST_F(SnapshotGangs, APlannedReplicaOfALeaderWorkerSetHasALeaderOfItsOwn) {
  cluster.nodes.put(testing::node("gpu-1"));
  cluster.scalers.put(testing::scaler("set", "set", "LeaderWorkerSet"));
  const auto with_leader = [](int gpus) {
    Object set = testing::deployment("set", 1);
    set["kind"] = "LeaderWorkerSet";
    const Object worker = {{"spec", {{"schedulerName", "capstan"}, {"containers", testing::containers(8)}}}};
    Object leader = worker;
    leader["spec"]["containers"] = testing::containers(gpus);
    if (gpus == 0) leader["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "4";
    set["spec"] = {{"replicas", 1},
                   {"leaderWorkerTemplate", {{"size", 3}, {"workerTemplate", worker}, {"leaderTemplate", leader}}}};
    return set;
  };
  cluster.leader_worker_sets.put(with_leader(0));
  const auto workload = [&] { return build().catalog->services.at(0).workload; };
  const model::Workload led = workload();
  EXPECT_EQ(led.gpus_per_replica, 16) << "the leader has no GPUs";
  ASSERT_TRUE(led.leader);
  EXPECT_EQ(led.leader->gpus, MilliGpu{});
  EXPECT_NE(led.leader->pod_class, led.pod_class);
  EXPECT_EQ(led.gang().pods.gpus_per_pod, whole_gpus(8));

  cluster.leader_worker_sets.put(with_leader(8));
  EXPECT_FALSE(workload().leader) << "a leader with the request of a worker is none of its own";
  EXPECT_EQ(workload().gpus_per_replica, 24);
}

TEST_F(SnapshotGangs, AGangStatesItsQueueAndWhetherItIsPreemptible) {
  Object pod = waiting_pod("a");
  pod["metadata"]["labels"] = {{"capstan.dev/queue", "research"}, {"kai.scheduler/preemptibility", "preemptible"}};
  cluster.pods.put(pod);
  cluster.pods.put(waiting_pod("b"));
  std::map<bool, bool> has_queue;  // by preemptibility
  build().gangs.for_each([&](model::GangId, const model::Gang& gang) {
    has_queue[gang.spec.preemptible] = gang.spec.queue.valid();
    EXPECT_EQ(gang.spec.queue, seen.snapshot.pods.at(gang.pods.front()).queue);
  });
  EXPECT_EQ(has_queue, (std::map<bool, bool>{{false, false}, {true, true}}));
}

TEST_F(SnapshotGangs, AGangWithoutGpusStatesTheRuleThatCapstanDoesNotPlaceIt) {
  const auto rule = [&] {
    const model::Snapshot& snapshot = build();
    EXPECT_EQ(snapshot.gangs.size(), 1u);
    return snapshot.catalog->eligibility.unsupported_rule(snapshot.gangs.at({0}).spec);
  };
  cluster.pods.put(waiting_pod("a", "g", 2, 0));
  cluster.pods.put(waiting_pod("b", "g", 2, 0));
  EXPECT_EQ(rule(), model::PodRule::no_gpus);
  cluster.pods.put(waiting_pod("c", "g", 2, 1));
  EXPECT_EQ(rule(), model::PodRule::none);
}

TEST_F(SnapshotGangs, PodsWithManyDifferentRequestsCountAsTheLargestOfThem) {
  for (int gpus = 1; gpus <= 9; ++gpus) cluster.pods.put(waiting_pod("p" + std::to_string(gpus), "g", 9, gpus));
  const model::GangSpec& spec = build().gangs.at({0}).spec;
  EXPECT_EQ(spec.pods.gpus_per_pod, whole_gpus(9));
  EXPECT_EQ(spec.pods.count, 9);
  EXPECT_TRUE(spec.other_pods.empty());
}

TEST_F(SnapshotGangs, IgnoresPendingPodsWithoutPlacement) {
  policy["spec"]["layers"] = Object::object();
  cluster.fleet.put(policy);
  cluster.pods.put(waiting_pod("a"));
  EXPECT_EQ(build().gangs.size(), 0u);
}

TEST_F(SnapshotGangs, ShadowIncludesGangsOfOtherSchedulers) {
  Object pod = waiting_pod("a");
  pod["spec"]["schedulerName"] = "kai-scheduler";
  cluster.pods.put(pod);
  policy["spec"]["placement"] = {{"shadowOf", {"kai-scheduler"}}};
  cluster.fleet.put(policy);
  EXPECT_EQ(build().gangs.size(), 0u) << "an Active layer ignores pods of another scheduler";
  policy["spec"]["layers"]["placement"] = "Shadow";
  cluster.fleet.put(policy);
  ASSERT_EQ(build().gangs.size(), 1u);
  EXPECT_EQ(seen.snapshot.gangs.at({0}).phase, model::Gang::Phase::pending);
}

TEST_F(SnapshotGangs, KaiPodGroupGivesTheSize) {
  for (const char* name : {"a", "b"}) {
    Object pod = waiting_pod(name);
    pod["metadata"]["annotations"] = {{"pod-group-name", "group"}};
    cluster.pods.put(pod);
  }
  EXPECT_EQ(build().gangs.size(), 0u) << "the size is unknown without the PodGroup";
  Object group = {{"metadata", testing::meta("group")}, {"spec", {{"minMember", 2}}}};
  cluster.kai_groups.put(group);
  EXPECT_EQ(build().gangs.size(), 1u);
}

TEST_F(SnapshotGangs, ExclusiveTopologyGivesTheLevel) {
  for (const char* name : {"a", "b"}) {
    Object pod = waiting_pod(name);
    pod["metadata"]["labels"]["leaderworkerset.sigs.k8s.io/name"] = "llm";
    pod["metadata"]["labels"]["leaderworkerset.sigs.k8s.io/group-index"] = "0";
    pod["metadata"]["annotations"] = {
        {"leaderworkerset.sigs.k8s.io/size", "2"},
        {"leaderworkerset.sigs.k8s.io/exclusive-topology", "topology.kubernetes.io/zone"}};
    cluster.pods.put(pod);
  }
  EXPECT_EQ(build().gangs.at({0}).spec.required_level, model::TopologyLevel::zone);
}

TEST_F(SnapshotGangs, KaiPodGroupGivesTheRequiredAndThePreferredLevel) {
  for (const char* name : {"a", "b"}) {
    Object pod = waiting_pod(name);
    pod["metadata"]["annotations"] = {{"pod-group-name", "group"}};
    cluster.pods.put(pod);
  }
  Object group = {{"metadata", testing::meta("group")},
                  {"spec",
                   {{"minMember", 2},
                    {"topologyConstraint",
                     {{"topology", "default"},
                      {"requiredTopologyLevel", "topology.kubernetes.io/zone"},
                      {"preferredTopologyLevel", "topology.kubernetes.io/rack"}}}}}};
  cluster.kai_groups.put(group);
  ASSERT_EQ(build().gangs.size(), 1u);
  EXPECT_EQ(seen.snapshot.gangs.at({0}).spec.required_level, model::TopologyLevel::zone);
  EXPECT_EQ(seen.snapshot.gangs.at({0}).spec.preferred, model::Level(model::TopologyLevel::rack));
  group["spec"]["topologyConstraint"] = {{"preferredTopologyLevel", "topology.kubernetes.io/rack"}};
  cluster.kai_groups.put(group);
  build();
  EXPECT_EQ(seen.snapshot.gangs.at({0}).spec.required_level, model::TopologyLevel::cluster);
  EXPECT_EQ(seen.snapshot.gangs.at({0}).spec.preferred, model::Level(model::TopologyLevel::rack));
}

TEST_F(SnapshotGangs, KueueAnnotationsNameLevelsOfATopologyOfTheFleet) {
  Object topology = {{"name", "fabric"}};
  topology["levels"].push_back({{"name", "spine"}, {"nodeLabel", "example.com/spine"}});
  topology["levels"].push_back({{"name", "leaf"}, {"nodeLabel", "example.com/leaf"}});
  topology["levels"].push_back({{"name", "host"}, {"nodeLabel", "kubernetes.io/hostname"}});
  policy["spec"]["topologies"].push_back(topology);
  cluster.fleet.put(policy);
  Object node = testing::node("in-fabric");
  node["metadata"]["labels"]["example.com/spine"] = "s1";
  node["metadata"]["labels"]["example.com/leaf"] = "l1";
  cluster.nodes.put(node);
  for (const char* name : {"a", "b"}) {
    Object pod = waiting_pod(name, "g", 2);
    pod["metadata"]["annotations"]["kueue.x-k8s.io/podset-required-topology"] = "example.com/spine";
    pod["metadata"]["annotations"]["kueue.x-k8s.io/podset-preferred-topology"] = "example.com/leaf";
    cluster.pods.put(pod);
  }
  ASSERT_EQ(build().gangs.size(), 1u);
  const model::Catalog& catalog = *seen.snapshot.catalog;
  const model::Gang& gang = seen.snapshot.gangs.at({0});
  EXPECT_EQ(catalog.level_key(gang.spec.required_level), "fabric/spine");
  EXPECT_EQ(catalog.topologies.at(1).levels.size(), 2u) << "nodes are no level of their own";
  ASSERT_TRUE(gang.spec.preferred);
  EXPECT_EQ(catalog.level_key(*gang.spec.preferred), "fabric/leaf");
  int in_fabric = 0;
  seen.snapshot.nodes.for_each([&](model::NodeId, const model::Node& row) {
    const model::DomainId spine = row.domains.domain_at(gang.spec.required_level);
    in_fabric += spine.valid() && catalog.domain(spine).name == "s1";
  });
  EXPECT_EQ(in_fabric, 1);
}

TEST_F(SnapshotGangs, APreferredLevelThatIsWiderThanTheRequiredOneIsDropped) {
  for (const char* name : {"a", "b"}) {
    Object pod = waiting_pod(name, "g", 2);
    pod["metadata"]["annotations"]["capstan.dev/gang-topology"] = "topology.kubernetes.io/rack";
    pod["metadata"]["annotations"]["capstan.dev/gang-preferred-topology"] = "topology.kubernetes.io/zone";
    cluster.pods.put(pod);
  }
  build();
  EXPECT_EQ(seen.snapshot.gangs.at({0}).spec.required_level, model::TopologyLevel::rack);
  EXPECT_FALSE(seen.snapshot.gangs.at({0}).spec.preferred);
}

TEST_F(SnapshotGangs, OnlyNodesOfTheFleetSelectorTakePods) {
  policy["spec"]["nodeSelector"] = {{"for", "capstan"}};
  cluster.fleet.put(policy);
  Object selected = testing::node("selected");
  selected["metadata"]["labels"]["for"] = "capstan";
  cluster.nodes.put(selected);
  cluster.nodes.put(testing::node("other"));
  build();
  const fleet::Index index = fleet::build(seen.snapshot);
  EXPECT_TRUE(index.rooms.find({0})->open);
  EXPECT_FALSE(index.rooms.find({1})->open);
}

TEST_F(SnapshotGangs, TaintsSelectorsAndOtherResourcesExcludeNodes) {
  Object tainted = testing::node("tainted");
  tainted["spec"]["taints"] = {{{"key", "nvidia.com/gpu"}, {"effect", "NoSchedule"}}};
  Object small = testing::node("small");
  small["status"]["allocatable"]["memory"] = "1Gi";
  Object fine = testing::node("fine");
  fine["status"]["allocatable"]["memory"] = "64Gi";
  Object elsewhere = testing::node("elsewhere", 8, "b");
  elsewhere["status"]["allocatable"]["memory"] = "64Gi";
  for (const Object& node : {tainted, small, fine, elsewhere}) cluster.nodes.put(node);
  Object pod = waiting_pod("a");
  pod["spec"]["nodeSelector"] = {{"topology.kubernetes.io/zone", "a"}};
  pod["spec"]["containers"][0]["resources"]["requests"]["memory"] = "2Gi";
  cluster.pods.put(pod);
  const auto fitting_nodes = [&] {
    build();
    const model::PodClass& pods =
        *seen.snapshot.catalog->eligibility.find(seen.snapshot.gangs.at({0}).spec.pods.pod_class);
    std::vector<model::NodeId> nodes;
    seen.snapshot.nodes.for_each([&](model::NodeId id, const model::Node& node) {
      if (pods.admits(node.node_class) && model::times_in(pods.requests, *node.available, 1) == 1) nodes.push_back(id);
    });
    return nodes;
  };
  EXPECT_EQ(fitting_nodes(), (std::vector<model::NodeId>{{2}}));
  pod["spec"]["tolerations"] = {{{"key", "nvidia.com/gpu"}, {"operator", "Exists"}}};
  cluster.pods.put(pod);
  EXPECT_EQ(fitting_nodes(), (std::vector<model::NodeId>{{2}})) << "the tainted node states no memory";
}

TEST_F(SnapshotGangs, PodsOnANodeLeaveLessOfItsResources) {
  Object node = testing::node("n");
  node["status"]["allocatable"].update({{"cpu", "8"}, {"memory", "10Gi"}, {"nvidia.com/mig-1g.10gb", "7"}});
  cluster.nodes.put(node);
  Object daemon = {
      {"metadata", {{"name", "daemon"}, {"namespace", "kube-system"}, {"uid", "daemon"}}},
      {"spec",
       {{"nodeName", "n"}, {"containers", {{{"name", "c"}, {"resources", {{"requests", {{"cpu", "500m"}}}}}}}}}},
      {"status", {{"phase", "Running"}}}};
  cluster.pods.put(daemon);
  Object told = waiting_pod("told");
  told["metadata"]["annotations"][actuate::kBindIntent] = actuate::write_bind_intent({"t", "n", 1});
  told["spec"]["containers"][0]["resources"]["requests"]["memory"] = "2Gi";
  cluster.pods.put(told);
  Object waiting = waiting_pod("waiting");
  waiting["spec"]["containers"][0]["resources"]["requests"]["nvidia.com/mig-1g.10gb"] = "2";
  cluster.pods.put(waiting);
  build();
  const model::Resources& left = *seen.snapshot.nodes.at({0}).available;
  EXPECT_EQ(left.cpu_milli, 7'500);
  EXPECT_EQ(left.memory_mib, 8 * 1'024) << "also a pod that is about to be bound holds its memory";
  EXPECT_EQ(left.extended, std::vector<std::int64_t>{7});
  EXPECT_EQ(seen.snapshot.catalog->extended_resources, std::vector<std::string>{"nvidia.com/mig-1g.10gb"});
}

TEST_F(SnapshotGangs, AClassKeepsItsIdAndAnUnchangedLookChangesNoRow) {
  Object labelled = testing::node("n");
  labelled["metadata"]["labels"]["disk"] = "fast";
  cluster.nodes.put(labelled);
  Object pod = waiting_pod("a");
  pod["spec"]["nodeSelector"] = {{"disk", "fast"}};
  cluster.pods.put(pod);
  const model::PodClassId first = build().gangs.at({0}).spec.pods.pod_class;
  EXPECT_EQ(build().gangs.at({0}).spec.pods.pod_class, first);
  EXPECT_TRUE(seen.delta.empty());
  Object other = waiting_pod("b");
  other["spec"]["nodeSelector"] = {{"zone", "x"}};
  cluster.pods.put(other);
  build();
  EXPECT_EQ(seen.snapshot.gangs.at({0}).spec.pods.pod_class, first);
  EXPECT_NE(seen.snapshot.gangs.at({1}).spec.pods.pod_class, first);
}

TEST_F(SnapshotGangs, PoolsOfferTheDescribedInstanceTypes) {
  cluster.pools.put(pool());
  cluster.pods.put(waiting_pod("a"));
  build();
  const model::Catalog& catalog = *seen.snapshot.catalog;
  ASSERT_EQ(catalog.pools.size(), 1u);
  EXPECT_EQ(catalog.pools[0].limits.gpus, 16);
  ASSERT_EQ(catalog.pools[0].offerings.size(), 4u) << "two zones, two capacity types";
  const model::Offering& first = catalog.offering(catalog.pools[0].offerings[0]);
  EXPECT_EQ(first.instance_type, "p5");
  EXPECT_EQ(first.gpus, 8);
  EXPECT_EQ(first.price_per_hour, MicroUsd{98'320'000});
  EXPECT_EQ(catalog.resources_of_new_node(catalog.pools[0].offerings[0]), std::nullopt) << "the policy states none";
  EXPECT_EQ(first.capacity, model::CapacityType::on_demand);
  EXPECT_EQ(catalog.gpu_kind(seen.snapshot.gangs.at({0}).spec.pods.gpu), "h100_sxm") << "the only GPU kind on offer";
  cluster.pools.remove("gpu");
  build();
  EXPECT_TRUE(seen.snapshot.catalog->pools[0].offerings.empty());
}

/// The CPU and memory of a machine type exclude pods that no such node has room for. The table of machines has these
/// amounts even if no node of the type exists.
TEST_F(SnapshotGangs, TheTableOfMachinesHasTheCpuAndMemoryThatThePolicyDoesNotState) {
  policy["spec"]["instanceTypes"][0].update({{"name", "p5.48xlarge"}, {"memoryGi", 2'000}});
  cluster.fleet.put(policy);
  cluster.pools.put(pool());
  build();
  const model::Catalog* catalog = seen.snapshot.catalog.get();
  ASSERT_FALSE(catalog->pools[0].offerings.empty());
  const auto amounts = catalog->resources_of_new_node(catalog->pools[0].offerings[0]);
  ASSERT_TRUE(amounts);
  EXPECT_EQ(amounts->cpu_milli, 192'000);
  EXPECT_EQ(amounts->memory_mib, 2'000 * 1'024) << "the policy is more exact";
  policy["spec"]["instanceTypes"][0].update({{"gpus", 4}});
  cluster.fleet.put(policy);
  build();
  catalog = seen.snapshot.catalog.get();
  const auto other = catalog->resources_of_new_node(catalog->pools[0].offerings.back());
  ASSERT_TRUE(other);
  EXPECT_EQ(other->cpu_milli, model::kUnlimited) << "a machine of the same name with other GPUs";
}

TEST_F(SnapshotGangs, AnExistingNodeShowsTheCpuAndMemoryOfATypeThatNoTableLists) {
  policy["spec"]["instanceTypes"][0].update({{"name", "own-8"}});
  cluster.fleet.put(policy);
  cluster.pools.put(pool());
  build();
  EXPECT_EQ(seen.snapshot.catalog->resources_of_new_node(seen.snapshot.catalog->pools[0].offerings[0]), std::nullopt);
  Object node = testing::node("own-1");
  node["metadata"]["labels"]["node.kubernetes.io/instance-type"] = "own-8";
  node["status"]["allocatable"].update({{"cpu", "63500m"}, {"memory", "500Gi"}});
  cluster.nodes.put(node);
  build();
  const auto amounts = seen.snapshot.catalog->resources_of_new_node(seen.snapshot.catalog->pools[0].offerings[0]);
  ASSERT_TRUE(amounts);
  EXPECT_EQ(amounts->cpu_milli, 63'500);
  EXPECT_EQ(amounts->memory_mib, 500 * 1'024);
}

TEST_F(SnapshotGangs, PolicyStatesTheCpuAndMemoryOfAnInstanceType) {
  cluster.pools.put(pool());
  build();
  policy["spec"]["instanceTypes"][0].update({{"cpu", 192}, {"memoryGi", 2'048}});
  cluster.fleet.put(policy);
  build();
  const model::Catalog& catalog = *seen.snapshot.catalog;
  ASSERT_EQ(catalog.pools[0].offerings.size(), 4u);
  for (const model::OfferingId offering : catalog.pools[0].offerings) {
    const std::optional<model::Resources> resources = catalog.resources_of_new_node(offering);
    ASSERT_TRUE(resources);
    EXPECT_EQ(resources->cpu_milli, 192'000);
    EXPECT_EQ(resources->memory_mib, 2'097'152);
  }
}

TEST_F(SnapshotGangs, PolicyStatesTheStorageThePodsAndTheExtendedResourcesOfAnInstanceType) {
  policy["spec"]["instanceTypes"].push_back({{"name", "p5-mig"},
                                             {"gpu", "H100"},
                                             {"gpus", 8},
                                             {"usdPerHour", "99"},
                                             {"ephemeralStorageGi", 100},
                                             {"pods", 58},
                                             {"resources", {{{"name", "nvidia.com/mig-1g.10gb"}, {"amount", 56}}}}});
  cluster.fleet.put(policy);
  cluster.pools.put(pool());
  build();
  Object pod = waiting_pod("a");
  pod["spec"]["containers"][0]["resources"]["requests"]["nvidia.com/mig-1g.10gb"] = "2";
  cluster.pods.put(pod);
  build();
  EXPECT_EQ(builder.complete_passes(), 1u);
  const model::Catalog& catalog = *seen.snapshot.catalog;
  ASSERT_EQ(catalog.extended_resources, (std::vector<std::string>{"nvidia.com/mig-1g.10gb"}));
  std::map<std::string, model::Resources> by_type;
  for (const model::OfferingId offering : catalog.pools[0].offerings) {
    by_type[catalog.offering(offering).instance_type] = *catalog.resources_of_new_node(offering);
  }
  EXPECT_EQ(by_type.at("p5-mig").storage_mib, 102'400);
  EXPECT_EQ(by_type.at("p5-mig").pod_slots, 58);
  EXPECT_EQ(by_type.at("p5-mig").extended, (std::vector<std::int64_t>{56}));
  EXPECT_EQ(by_type.at("p5").extended, (std::vector<std::int64_t>{0})) << "another type states the resource";
  EXPECT_EQ(by_type.at("p5").pod_slots, model::kUnlimited);
}

TEST_F(SnapshotGangs, AnExtendedResourceThatNoTypeStatesLimitsNoPurchase) {
  policy["spec"]["instanceTypes"][0]["cpu"] = 64;
  cluster.fleet.put(policy);
  cluster.pools.put(pool());
  Object pod = waiting_pod("a");
  pod["spec"]["containers"][0]["resources"]["requests"]["example.com/nic"] = "1";
  cluster.pods.put(pod);
  build();
  const model::Catalog& catalog = *seen.snapshot.catalog;
  const auto amounts = catalog.resources_of_new_node(catalog.pools[0].offerings[0]);
  ASSERT_TRUE(amounts);
  EXPECT_EQ(amounts->extended, (std::vector<std::int64_t>{model::kUnlimited}));
}

TEST_F(SnapshotGangs, ExcludesOfferingsThatAGangCannotUse) {
  cluster.pools.put(pool());
  Object pod = waiting_pod("a");
  pod["spec"]["nodeSelector"] = {{"topology.kubernetes.io/zone", "b"}};
  cluster.pods.put(pod);
  const model::PodClassId pods = build().gangs.at({0}).spec.pods.pod_class;
  const model::Catalog& catalog = *seen.snapshot.catalog;
  ASSERT_EQ(catalog.pools[0].offerings.size(), 4u);
  for (const model::OfferingId offering : catalog.pools[0].offerings) {
    const bool in_zone = catalog.domain(catalog.offering(offering).zone).name == "b";
    EXPECT_EQ(catalog.eligibility.admits(pods, {{0}, offering}), in_zone);
  }
}

TEST_F(SnapshotGangs, ClaimsNameTheirLaunch) {
  cluster.claims.put({{"metadata",
                       {{"name", "c"},
                        {"uid", "c"},
                        {"labels", {{"capstan.dev/claim-group", "g"}, {"karpenter.sh/nodepool", "gpu"}}},
                        {"annotations",
                         {{"capstan.dev/claim-group-size", "4"},
                          {"capstan.dev/claim-together", "true"},
                          {"capstan.dev/claim-within", "zone"}}}}},
                      {"spec",
                       {{"requirements",
                         {{{"key", "topology.kubernetes.io/zone"}, {"operator", "In"}, {"values", {"b"}}},
                          {{"key", "node.kubernetes.io/instance-type"}, {"operator", "In"}, {"values", {"p5"}}}}},
                        {"resources", {{"requests", {{"nvidia.com/gpu", "8"}}}}}}}});
  const model::Claim& claim = build().claims.at({0});
  EXPECT_TRUE(claim.group.valid());
  EXPECT_EQ(claim.group_size, 4);
  EXPECT_EQ(seen.snapshot.catalog->gpu_kind(seen.snapshot.catalog->offering(claim.offering).gpu), "h100_sxm")
      << "as in the labels of nodes of its type";
  EXPECT_EQ(seen.snapshot.catalog->domain(claim.domain).name, "b");
}

TEST_F(SnapshotGangs, PodsOfABindTransactionTakeTheirNodes) {
  cluster.nodes.put(testing::node("n"));
  Object pod = waiting_pod("a");
  pod["metadata"]["annotations"][actuate::kBindIntent] = actuate::write_bind_intent({"t", "n", 1});
  cluster.pods.put(pod);
  build();
  EXPECT_EQ(seen.snapshot.pods.at({0}).node, model::NodeId{0});
  EXPECT_EQ(fleet::build(seen.snapshot).rooms.find({0})->free.sum, MilliGpu{});
}

TEST_F(SnapshotGangs, PartlyAnnotatedBindTransactionTakesNoNodes) {
  cluster.nodes.put(testing::node("n"));
  Object first = waiting_pod("a", "g", 2, 1);
  Object second = waiting_pod("b", "g", 2, 1);
  const auto annotate = [](Object& pod) {
    pod["metadata"]["annotations"][actuate::kBindIntent] = actuate::write_bind_intent({"t", "n", 2});
  };
  annotate(first);
  cluster.pods.put(first);
  cluster.pods.put(second);
  build();
  const auto on_node = [&] {
    return seen.snapshot.pods.at({0}).node.valid() + seen.snapshot.pods.at({1}).node.valid();
  };
  EXPECT_EQ(on_node(), 0) << "the remaining pods are only part of a gang";
  annotate(second);
  cluster.pods.put(second);
  build();
  EXPECT_EQ(on_node(), 2);
}

TEST_F(SnapshotGangs, LeavesServicesToTheirScheduler) {
  cluster.scalers.put(testing::scaler("chat", "chat"));
  Object workload = testing::deployment("chat", 1);
  cluster.deployments.put(workload);
  EXPECT_TRUE(build().catalog->services[0].workload.placed_elsewhere);
  workload["spec"]["template"]["spec"]["schedulerName"] = "capstan";
  cluster.deployments.put(workload);
  EXPECT_FALSE(build().catalog->services[0].workload.placed_elsewhere);
}

TEST(Admission, FollowsTheRulesOfKubernetes) {
  kube::PodSpec pod;
  const kube::StringMap labels{{"zone", "a"}, {"cores", "8"}};
  EXPECT_TRUE(admits(pod, labels, {}));
  pod.node_affinity = {{{.key = "zone", .op = "In", .values = {"b"}}}, {{.key = "cores", .op = "Gt", .values = {"7"}}}};
  EXPECT_TRUE(admits(pod, labels, {})) << "one of the terms matches";
  pod.node_affinity[1][0].values = {"8"};
  EXPECT_FALSE(admits(pod, labels, {}));
  pod.node_affinity.clear();
  const std::vector<kube::Taint> taints = {{.key = "k", .value = "v", .effect = "NoSchedule"},
                                           {.key = "soft", .value = "", .effect = "PreferNoSchedule"}};
  EXPECT_FALSE(admits(pod, labels, taints));
  pod.tolerations = {{.key = "k", .op = "", .value = "other", .effect = ""}};
  EXPECT_FALSE(admits(pod, labels, taints));
  pod.tolerations = {{.key = "k", .op = "Equal", .value = "v", .effect = "NoSchedule"}};
  EXPECT_TRUE(admits(pod, labels, taints));
  pod.tolerations = {{.key = "", .op = "Exists", .value = "", .effect = ""}};
  EXPECT_TRUE(admits(pod, labels, taints));
}

}  // namespace
}  // namespace capstan::op
