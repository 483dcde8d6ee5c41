// Queues: their gangs together stay within the limits, and no node is bought for a gang that a queue holds back.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>

#include "decide/place/place.h"
#include "fleet/testing/world.h"
#include "model/reason_sentence.h"

namespace capstan::decide::place {
namespace {

using fleet::testing::at;
using fleet::testing::World;

Decision run(const World& world, std::vector<model::PlannedGang> planned = {}) {
  Memory memory;
  Index index = fleet::build(world.snapshot);
  return decide(index, world.snapshot, planned, {}, memory, at(100));
}

TEST(Queues, AGangThatWouldExceedALimitWaitsAndYoungerOnesDoNot) {
  World world;
  const NodeId node = world.node(0);
  const QueueId team = world.queue(6);
  const GangId runs = world.gang(1, 4, TopologyLevel::node), large = world.gang(1, 4, TopologyLevel::node, 1),
               small = world.gang(1, 2, TopologyLevel::node, 2);
  for (const GangId gang : {runs, large, small}) world.enqueue(gang, team);
  world.bind(runs, node);
  const Decision decision = run(world);
  ASSERT_EQ(decision.verdicts.size(), 2u);
  EXPECT_EQ(decision.verdicts[0].gang, large);
  EXPECT_EQ(decision.verdicts[0].kind, PlacementResult::Kind::held_by_queue);
  EXPECT_EQ(sentence(decision.verdicts[0].why), "queue 0 holds 4 of its limit of 6 GPUs, and the gang needs 4 more");
  EXPECT_EQ(decision.verdicts[1].kind, PlacementResult::Kind::placed);
  EXPECT_TRUE(decision.shortfalls.empty()) << "the gang has room";
}

TEST(Queues, TheLimitOfAQueueHoldsForItsChildrenTogether) {
  World world;
  world.node(0);
  const QueueId all = world.queue(6), one = world.queue(8, all), other = world.queue(8, all);
  world.enqueue(world.gang(1, 4, TopologyLevel::node, 0), one);
  world.enqueue(world.gang(1, 4, TopologyLevel::node, 1), other);
  const Decision decision = run(world);
  EXPECT_EQ(decision.verdicts[0].kind, PlacementResult::Kind::placed);
  EXPECT_EQ(decision.verdicts[1].kind, PlacementResult::Kind::held_by_queue);
}

/// A tree of three queues with these limits: the queue of the company, below it the queue of a team, and below that the
/// batch queue of the team.
struct FullQueue {
  const char* what;
  std::int64_t company, team, batch;  ///< limits, GPUs
  std::int64_t runs, asks;            ///< GPUs of a gang that runs and of one that waits, both in the batch queue
  const char* why;
};

constexpr FullQueue kFullQueues[] = {
    {"the leaf is full", 16, 8, 4, 4, 2, "queue \"batch\" holds 4 of its limit of 4 GPUs, and the gang needs 2 more"},
    {"its parent is full, and it is not", 16, 4, 8, 4, 1,
     "queue \"team\" holds 4 of its limit of 4 GPUs, and the gang needs 1 more"},
    {"the top is full, and those below are not", 6, 8, 8, 4, 4,
     "queue \"company\" holds 4 of its limit of 6 GPUs, and the gang needs 4 more"},
    {"a queue that may hold nothing", 16, 0, 8, 0, 1,
     "queue \"team\" holds 0 of its limit of 0 GPUs, and the gang needs 1 more"},
};

TEST(Queues, TheReasonNamesTheQueueThatIsFull) {
  for (const FullQueue& row : kFullQueues) {
    World world;
    const NodeId node = world.node(0);
    const QueueId company = world.queue(row.company), team = world.queue(row.team, company);
    const QueueId batch = world.queue(row.batch, team);
    for (const auto& [id, name] : {std::pair(company, "company"), std::pair(team, "team"), std::pair(batch, "batch")}) {
      world.catalog().queues[id.value].name = name;
    }
    if (row.runs > 0) {
      const GangId runs = world.gang(1, row.runs, TopologyLevel::node);
      world.enqueue(runs, batch);
      world.bind(runs, node);
    }
    world.enqueue(world.gang(1, row.asks, TopologyLevel::node, 1), batch);
    const Decision decision = run(world);
    ASSERT_EQ(decision.verdicts.size(), 1u) << row.what;
    EXPECT_EQ(sentence(decision.verdicts[0].why, world.catalog()), row.why) << row.what;
  }
}

TEST(Queues, RoomIsRequestedOnlyAsFarAsTheLimitAllows) {
  World world;
  world.pool({world.offering(8, 0, 10)}, 64);
  const QueueId team = world.queue(8);
  for (int i = 0; i < 3; ++i) world.enqueue(world.gang(1, 8, TopologyLevel::node, i), team);
  world.catalog().services[0].workload.gpus_per_replica = 8;
  world.catalog().services[0].workload.queue = team;
  const Decision decision = run(world, {{{0}, 7, at(1)}});
  EXPECT_EQ(decision.shortfalls.size(), 1u) << "three gangs wait and one is planned";
  EXPECT_EQ(decision.verdicts[1].kind, PlacementResult::Kind::held_by_queue);
}

TEST(Queues, EachPodOfAGangChargesItsOwnQueue) {
  World world;
  world.node(0);
  const QueueId large = world.queue(8), small = world.queue(2);
  const GangId gang = world.gang(4, 1, TopologyLevel::node);
  world.enqueue(gang, small);
  model::Pod first = world.snapshot.pods.at({0});
  first.queue = large;
  world.snapshot.pods.set({0}, first);
  EXPECT_EQ(run(world).verdicts[0].kind, PlacementResult::Kind::held_by_queue)
      << "the queue may hold two GPUs and the pods in it ask for three";
  world.catalog().queues[small.value].gpus.limit = whole_gpus(3);
  EXPECT_EQ(run(world).verdicts[0].kind, PlacementResult::Kind::placed);
}

TEST(Queues, NoNodeIsBoughtForAGangWhoseQueueAYoungerGangFills) {
  World world;
  world.node(0, 4);
  world.pool({world.offering(8, 0, 10)}, 64);
  const QueueId team = world.queue(8);
  const GangId large = world.gang(1, 8, TopologyLevel::node, 0), small = world.gang(1, 4, TopologyLevel::node, 1);
  for (const GangId gang : {large, small}) world.enqueue(gang, team);
  const Decision decision = run(world);
  EXPECT_EQ(decision.verdicts[0].gang, large);
  EXPECT_EQ(decision.verdicts[0].kind, PlacementResult::Kind::held_by_queue);
  EXPECT_EQ(decision.plan.no_actions[0].why, decision.verdicts[0].why);
  EXPECT_EQ(decision.verdicts[1].kind, PlacementResult::Kind::placed);
  EXPECT_TRUE(decision.shortfalls.empty());
}

TEST(Queues, AFullQueueDoesNotHoldAGangWithoutGpus) {
  World world;
  world.node(0);
  const QueueId none = world.queue(0);
  const GangId gang = world.gang(1, 1, TopologyLevel::node);
  world.enqueue(gang, none);
  model::Pod pod = world.snapshot.pods.at({0});
  pod.gpus = {};
  world.snapshot.pods.set({0}, pod);
  EXPECT_EQ(run(world).verdicts[0].kind, PlacementResult::Kind::placed);
}

TEST(Queues, AGangOfAQueueAtFaultIsNotPlaced) {
  World world;
  world.node(0);
  const QueueId gone = world.queue(8), team = world.queue(8, gone);
  model::QueueFault& fault = world.catalog().queues[gone.value].fault;
  fault = model::QueueFault::not_found;
  const GangId gang = world.gang(1, 1, TopologyLevel::node);
  world.enqueue(gang, team);
  EXPECT_EQ(sentence(run(world).verdicts[0].why),
            "queue 1 names queue 0 as its parent, which has no Queue object: no pod of queue 1 is placed until that "
            "object exists or `spec.parent` names another queue");
  fault = model::QueueFault::parent_cycle;
  EXPECT_EQ(run(world).verdicts[0].why.code, model::ReasonCode::queue_parent_cycle);
  fault = model::QueueFault::not_found;
  world.enqueue(gang, gone);
  EXPECT_EQ(sentence(run(world).verdicts[0].why),
            "queue 0 has no Queue object: none of its pods is placed until that object exists");
}

TEST(Queues, AQueueHoldsItsAssumedBindings) {
  World world;
  world.node(0);
  const QueueId team = world.queue(4);
  world.enqueue(world.gang(1, 4, TopologyLevel::node, 0), team);
  Index index = fleet::build(world.snapshot);
  Memory memory;
  EXPECT_EQ(decide(index, world.snapshot, {}, {}, memory, at(1)).plan.actions.size(), 1u);
  world.enqueue(world.gang(1, 4, TopologyLevel::node, 1), team);
  index = fleet::build(world.snapshot);
  EXPECT_TRUE(decide(index, world.snapshot, {}, {}, memory, at(2)).plan.actions.empty());
}

/// Returns the GPUs that the pods of each queue and of its children hold.
std::map<QueueId, MilliGpu> held(const World& world, const std::map<PodId, bool>& bound) {
  std::map<QueueId, MilliGpu> sums;
  world.snapshot.pods.for_each([&](PodId id, const model::Pod& pod) {
    if (!pod.node.valid() && !bound.contains(id)) return;
    for (QueueId q = pod.queue; q.valid(); q = world.snapshot.catalog->queue(q).parent) sums[q] += pod.gpus;
  });
  return sums;
}

RC_GTEST_PROP(Queues, NoDecisionTakesAQueueAboveItsLimit, ()) {
  const World world = fleet::testing::random_world();
  std::map<PodId, bool> bound;
  for (const model::Action& action : run(world).plan.actions) {
    for (const auto& b : std::get<model::BindPods>(action.effect).bindings) bound[b.pod] = true;
  }
  const auto before = held(world, {});
  for (const auto& [queue, gpus] : held(world, bound)) {
    const auto was = before.find(queue);
    RC_ASSERT((was != before.end() && gpus == was->second) || gpus <= *world.snapshot.catalog->queue(queue).gpus.limit);
  }
}

}  // namespace
}  // namespace capstan::decide::place
