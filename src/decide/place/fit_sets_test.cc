// Tests of gangs with several pod sets, such as a leader without GPUs and its workers.
#include "decide/place/fit_sets.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "decide/testing/placement.h"
#include "model/reason_sentence.h"

namespace capstan::decide::place::fit_sets_test {
namespace {

using fleet::testing::World;
using model::PodSet;

/// A cluster, and the pod sets of a gang: two workers with eight GPUs and 10 CPUs each, and a leader with 8 CPUs and
/// without GPUs.
struct Fleet {
  World world;
  PodSet workers{.gpu = {0}, .count = 2, .gpus_per_pod = whole_gpus(8), .pod_class = {}};
  PodSet leader{.gpu = {0}, .count = 1, .gpus_per_pod = {}, .pod_class = {}};

  Fleet() {
    world.catalog().gpu_kinds.emplace_back("none");
    workers.pod_class = world.pod_class({true, false}, {.cpu_milli = 10'000});
    leader.pod_class = world.pod_class({true, true}, {.cpu_milli = 8'000});
  }
  /// Adds a node of class 0 with GPUs, or of class 1 without GPUs.
  NodeId node(std::size_t nvlink_domain, std::int64_t cpu_milli, std::int64_t gpus = 8) {
    const NodeId id = world.node(nvlink_domain, gpus);
    model::Node row = world.snapshot.nodes.at(id);
    row.gpu = {gpus > 0 ? 0U : 1U};
    row.node_class = {gpus > 0 ? 0U : 1U};
    row.available = model::Resources{.cpu_milli = cpu_milli};
    world.snapshot.nodes.set(id, row);
    return id;
  }
  /// Makes a running pod keep the leader away from nodes without GPUs.
  void keep_leader_apart() {
    leader.pod_class = world.pod_class({true, false}, {.cpu_milli = 8'000});
    model::PodClass& row = world.catalog().eligibility.pod_classes[leader.pod_class.value];
    row.kept_apart = {false, true};
    row.kept_apart_by = "team/db-0";
  }
  GangId gang(TopologyLevel level) { return gang_of_sets(world, {workers, leader}, level); }
};

/// Returns the nodes of the pods that the plan binds, in the order of the gang's pods.
std::vector<std::int64_t> nodes_of(const World& world, GangId id, const Decision& decision) {
  std::map<PodId, NodeId> nodes;
  for (const model::Action& action : decision.plan.actions) {
    for (const auto& binding : std::get<model::BindPods>(action.effect).bindings) nodes[binding.pod] = binding.node;
  }
  std::vector<std::int64_t> found;
  for (const PodId pod : world.snapshot.gangs.at(id).pods) {
    const auto node = nodes.find(pod);
    if (node != nodes.end()) found.push_back(node->second.value);
  }
  return found;
}

struct Row {
  const char* what;
  std::function<void(Fleet&)> build;
  TopologyLevel level;
  std::vector<std::int64_t> nodes;  ///< of the leader and the workers; empty: the gang has no room
  const char* why = "";             ///< sentence of a gang without room
};

const Row kRows[] = {
    {"the leader goes to a node without GPUs",
     [](Fleet& f) { f.node(0, 90'000), f.node(1, 90'000), f.node(0, 90'000, 0); },
     TopologyLevel::rack,
     {2, 0, 1}},
    {"a node without GPUs in another rack is not used",
     [](Fleet& f) { f.node(0, 90'000), f.node(1, 90'000), f.node(2, 90'000, 0); },
     TopologyLevel::rack,
     {0, 0, 1}},
    {"the gang may be anywhere",
     [](Fleet& f) { f.node(0, 90'000), f.node(4, 90'000), f.node(2, 90'000, 0); },
     TopologyLevel::cluster,
     {2, 0, 1}},
    {"a node whose GPUs the workers use has CPU for the leader",
     [](Fleet& f) { f.node(0, 10'000), f.node(1, 18'000); },
     TopologyLevel::rack,
     {1, 0, 1}},
    {"the fullest rack has room for the workers only",
     [](Fleet& f) { f.node(0, 10'000), f.node(1, 10'000), f.node(2, 10'000), f.node(3, 90'000), f.node(3, 90'000); },
     TopologyLevel::rack,
     {3, 2, 3}},
    {"the leader has no room",
     [](Fleet& f) { f.node(0, 17'000), f.node(1, 17'000), f.node(2, 90'000); },
     TopologyLevel::rack,
     {},
     "1 of 1 pod with 0 GPUs each finds no room in rack \"rack-0\" in addition to the larger pods of the gang; all "
     "pods of the gang must be in one rack"},
    {"a worker has no room",
     [](Fleet& f) { f.node(0, 90'000), f.node(1, 90'000, 4), f.node(1, 90'000, 0); },
     TopologyLevel::rack,
     {},
     "the gang is short of 8 H100 GPUs: it needs 16 in one rack, and the best fit, rack \"rack-0\", has 12 free"},
    {"two workers with four GPUs each share a node with their leader",
     [](Fleet& f) {
       f.workers.gpus_per_pod = whole_gpus(4);
       f.node(0, 27'000), f.node(1, 28'000), f.node(2, 90'000, 0);
     },
     TopologyLevel::node,
     {1, 1, 1}},
    {"no node has CPU for the leader, too",
     [](Fleet& f) {
       f.workers.gpus_per_pod = whole_gpus(4);
       f.node(0, 27'000);
     },
     TopologyLevel::node,
     {},
     "1 of 1 pod with 0 GPUs each finds no room in addition to the larger pods of the gang; all pods of the gang must "
     "be in one node"},
    {"sets of four and two GPUs compete for the GPUs of a node",
     [](Fleet& f) {
       f.workers.gpus_per_pod = whole_gpus(2);
       f.leader.gpus_per_pod = whole_gpus(4);
       f.node(0, 90'000, 7), f.node(1, 90'000, 8);
     },
     TopologyLevel::nvlink,
     {1, 1, 1}},
    {"the last GPUs are too few for the second set",
     [](Fleet& f) {
       f.workers = {.gpu = {0}, .count = 1, .gpus_per_pod = whole_gpus(4)};
       f.leader = {.gpu = {0}, .count = 2, .gpus_per_pod = whole_gpus(2)};
       f.node(0, 90'000, 7);
     },
     TopologyLevel::nvlink,
     {},
     "1 of 2 pods with 2 GPUs each finds no room in NVLink domain \"nvlink-0\" in addition to the larger pods of the "
     "gang; all pods of the gang must be in one NVLink domain"},
    {"a running pod keeps the leader away from the only node with CPU for it",
     [](Fleet& f) {
       f.keep_leader_apart();
       f.node(0, 10'000), f.node(0, 10'000), f.node(0, 8'000, 0);
     },
     TopologyLevel::nvlink,
     {},
     "running pods such as team/db-0 have a required `affinity.podAntiAffinity` that selects 1 of 1 pod with 0 GPUs "
     "each, and keep it from nodes with room in NVLink domain \"nvlink-0\"; the larger pods of the gang have room, and "
     "all of its pods must be in one NVLink domain"},
    {"the leader of such a gang goes to a node that admits it",
     [](Fleet& f) {
       f.keep_leader_apart();
       f.node(0, 10'000), f.node(0, 18'000), f.node(0, 8'000, 0);
     },
     TopologyLevel::nvlink,
     {1, 0, 1}},
    {"without the running pod, the leader would have no room either",
     [](Fleet& f) {
       f.keep_leader_apart();
       f.node(0, 10'000), f.node(0, 10'000), f.node(0, 7'000, 0);
     },
     TopologyLevel::nvlink,
     {},
     "1 of 1 pod with 0 GPUs each finds no room in NVLink domain \"nvlink-0\" in addition to the larger pods of the "
     "gang; all pods of the gang must be in one NVLink domain"},
};

TEST(PodSets, AllPodsHaveRoomInOneDomainOrNoneIsBound) {
  for (const Row& row : kRows) {
    Fleet fleet;
    fleet.world.pool({fleet.world.offering(8, 0, 10)}, 640);
    row.build(fleet);
    // The set with more GPUs is the first one.
    if (fleet.leader.gpus_per_pod > fleet.workers.gpus_per_pod) std::swap(fleet.leader, fleet.workers);
    const GangId gang = fleet.gang(row.level);
    const Decision decision = place_once(fleet.world, {});
    std::vector<std::int64_t> nodes = nodes_of(fleet.world, gang, decision);
    EXPECT_EQ(nodes, row.nodes) << row.what;
    if (!row.nodes.empty()) continue;
    ASSERT_EQ(decision.shortfalls.size(), 1u) << row.what;
    EXPECT_EQ(model::sentence(decision.shortfalls[0].why, fleet.world.catalog()), row.why) << row.what;
  }
}

TEST(PodSets, APodWithoutANodeJoinsTheDomainOfTheOthers) {
  for (const std::int64_t cpu_milli : {9'000, 7'000}) {
    Fleet fleet;
    const NodeId here = fleet.node(0, cpu_milli);
    fleet.node(2, 90'000), fleet.node(2, 90'000, 0);
    fleet.workers.count = 1;
    const GangId gang = fleet.gang(TopologyLevel::rack);
    fleet.world.bind_pod(gang, 1, here);
    const Decision decision = place_once(fleet.world, {});
    const bool has_room = cpu_milli >= 8'000;
    EXPECT_EQ(nodes_of(fleet.world, gang, decision).size(), has_room ? 1u : 0u);
    ASSERT_EQ(decision.verdicts.size(), 1u);
    EXPECT_EQ(decision.verdicts[0].kind,
              has_room ? PlacementResult::Kind::placed : PlacementResult::Kind::cannot_fit_now);
    if (!has_room) {
      EXPECT_EQ(decision.verdicts[0].why.code, model::ReasonCode::pod_set_short);
    }
  }
}

TEST(PodSets, AGangWaitsForThePodsThatEachSetNeeds) {
  Fleet fleet;
  fleet.node(0, 90'000), fleet.node(0, 90'000);
  fleet.workers.minimum = 1;
  const GangId gang = fleet.gang(TopologyLevel::rack);
  model::Gang row = fleet.world.snapshot.gangs.at(gang);
  row.spec.other_pods[0].count = row.spec.other_pods[0].minimum = 2;
  row.pods.pop_back();
  fleet.world.snapshot.gangs.set(gang, row);
  const Decision decision = place_once(fleet.world, {});
  ASSERT_EQ(decision.verdicts.size(), 1u);
  EXPECT_EQ(decision.verdicts[0].why, (model::Reason{model::ReasonCode::pods_missing, {2, 3}}));
}

TEST(PodSets, RoomOfABoundLeaderIsTakenUntilASnapshotShowsIt) {
  Fleet fleet;
  fleet.workers = {.gpu = {0}, .count = 1, .gpus_per_pod = whole_gpus(8)};
  fleet.node(0, 9'000);
  fleet.gang(TopologyLevel::node);
  Index index = fleet::build(fleet.world.snapshot);
  Memory memory;
  EXPECT_EQ(decide(index, fleet.world.snapshot, {}, {}, memory, fleet::testing::at(1)).plan.actions.size(), 1u);
  decide(index, fleet.world.snapshot, {}, {}, memory, fleet::testing::at(2));
  const NodeRoom& room = *index.assumed.rooms().find({0});
  EXPECT_EQ(room.free.sum, MilliGpu{});
  EXPECT_EQ(room.available->cpu_milli, 1'000) << "the leader needs no GPU, and the GPUs of the node are in use";
}

RC_GTEST_PROP(PodSets, ASearchLeavesTheRoomsAsTheyWere, ()) {
  const World world = fleet::testing::random_world();
  Index index = fleet::build(world.snapshot);
  const Rooms before = index.rooms;
  std::vector<Request> sets(2);
  sets[0] = {.gpu = {0},
             .level = static_cast<TopologyLevel>(*rc::gen::inRange(0, 5)),
             .pods = *rc::gen::inRange<std::int64_t>(1, 6),
             .gpus_per_pod = whole_gpus(*rc::gen::element<std::int64_t>(1, 2, 4))};
  sets[1] = sets[0];
  sets[1].gpus_per_pod = whole_gpus(*rc::gen::element<std::int64_t>(0, 1));
  sets[1].pods = *rc::gen::inRange<std::int64_t>(1, 4);
  const Fit fit = best_fit_of_sets(index.rooms, sets);
  RC_ASSERT(index.rooms == before);
  const std::int64_t pods = sets[0].pods + sets[1].pods;
  RC_ASSERT((fit.nodes.empty() || std::ssize(fit.nodes) == pods));
  // A set alone fits wherever it fits together with another one.
  if (!fit.nodes.empty()) RC_ASSERT(!best_fit(index.rooms, sets[0]).nodes.empty());
}

}  // namespace
}  // namespace capstan::decide::place::fit_sets_test
