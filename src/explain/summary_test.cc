#include "explain/summary.h"

#include <gtest/gtest.h>

#include <functional>

#include "explain/explain.h"
#include "fleet/testing/world.h"

namespace capstan::explain {
namespace {

using fleet::testing::at;
using fleet::testing::World;
using model::Gang;
using model::GangId;
using model::NodeId;
using model::ReasonCode;
using model::TopologyLevel;

constexpr Instant kNow = at(100);

/// A cluster whose placement and nodes are decided at `kNow`, and the scale decision about its service.
struct Cluster {
  World world;
  model::Names names;
  decide::place::Policy place_policy;
  decide::place::Memory place_memory;
  decide::provision::Memory provision_memory;
  decide::provision::Policy provision_policy;
  bool buys_nodes = true;
  decide::scale::Decision scale;
  decide::place::Decision place;
  decide::provision::Decision provision;

  Cluster() {
    scale.service = {0};
    scale.current = scale.desired = 1;
    scale.why = {ReasonCode::nothing_to_do, {}};
  }

  void price(NodeId node, model::OfferingId offering) {
    model::Node row = world.snapshot.nodes.at(node);
    row.offering = offering;
    world.snapshot.nodes.set(node, row);
  }

  void launch_node() {  // of eight GPUs, ready at 229 s
    const model::OfferingId offering = world.offering(8, 0, 10);
    const auto claim = world.claim(world.pool({offering}, 1000), offering, model::Claim::Phase::launched, 60);
    model::Claim row = world.snapshot.claims.at(claim);
    row.expected_ready_at = at(229);
    world.snapshot.claims.set(claim, row);
  }

  void decide_now() {
    world.snapshot.at = kNow;
    fleet::Index index = fleet::build(world.snapshot);
    place = decide::place::decide(index, world.snapshot, {}, place_policy, place_memory, kNow);
    if (!buys_nodes) return;
    provision = decide::provision::decide(index, world.snapshot, place, provision_policy, provision_memory, kNow);
  }

  Summarizer summarizer() const { return {world.snapshot, names, place, provision}; }
};

/// A cluster in which one replica is pending for a known cause, and the answer that names this cause.
struct Cause {
  const char* name;
  std::function<GangId(Cluster&)> build;  ///< returns the replica to ask about
  Layer layer;
  const char* text;    ///< part of the limit
  const char* change;  ///< part of the change that would help
};

const Cause kCauses[] = {
    {"TheScalerWantsFewerReplicas",
     [](Cluster& c) {
       const GangId gang = c.world.gang(1, 8, TopologyLevel::node);
       c.scale.desired = 0;
       c.scale.drain = {gang};
       return gang;
     },
     Layer::replicas, "0 replicas wanted, so this one is removed", ""},
    {"TheQueueIsFull",
     [](Cluster& c) {
       const NodeId node = c.world.node(0);
       const model::QueueId queue = c.world.queue(6);
       const GangId first = c.world.gang(1, 4, TopologyLevel::node);
       c.world.enqueue(first, queue);
       c.world.bind(first, node);
       const GangId second = c.world.gang(1, 4, TopologyLevel::node);
       c.world.enqueue(second, queue);
       return second;
     },
     Layer::queue, "queue q0 holds 4 of its 6 GPUs, 4 more needed", "raise the limit of queue q0 by 2 GPUs to 8"},
    {"NoQueueObjectDescribesTheQueue",
     [](Cluster& c) {
       c.world.node(0);
       const model::QueueId queue = c.world.queue(100);
       c.world.catalog().queues[queue.value].fault = model::QueueFault::not_found;
       const GangId gang = c.world.gang(1, 4, TopologyLevel::node);
       c.world.enqueue(gang, queue);
       return gang;
     },
     Layer::queue, "no Queue object describes queue q0", "create the Queue q0"},
    {"NoQueueObjectDescribesTheParent",
     [](Cluster& c) {
       c.world.node(0);
       const model::QueueId parent = c.world.queue(100);
       c.world.catalog().queues[parent.value].fault = model::QueueFault::not_found;
       const GangId gang = c.world.gang(1, 4, TopologyLevel::node);
       c.world.enqueue(gang, c.world.queue(100, parent));
       return gang;
     },
     Layer::queue, "no Queue object describes queue q0, the parent of queue q1",
     "create the Queue q0 or correct spec.parent"},
    {"TheParentsFormALoop",
     [](Cluster& c) {
       c.world.node(0);
       const model::QueueId queue = c.world.queue(100);
       c.world.catalog().queues[queue.value].fault = model::QueueFault::parent_cycle;
       const GangId gang = c.world.gang(1, 4, TopologyLevel::node);
       c.world.enqueue(gang, queue);
       return gang;
     },
     Layer::queue, "the parents of queue q0 form a loop", "correct spec.parent of one of the queues in the loop"},
    {"TheNodesLackCpuAndThePoolIsFull",
     [](Cluster& c) {
       const model::OfferingId offering = c.world.offering(8, 0, 10);
       const model::PoolId pool = c.world.pool({offering}, 8);
       const NodeId node = c.world.node(0);
       c.world.set_available(node, {.cpu_milli = 90'000});
       c.price(node, offering);
       model::Node row = c.world.snapshot.nodes.at(node);
       row.pool = pool;
       c.world.snapshot.nodes.set(node, row);
       const GangId gang = c.world.gang(1, 8, TopologyLevel::rack);
       c.world.classify(gang, c.world.pod_class({}, {.cpu_milli = 95'000}));
       return gang;
     },
     Layer::placement, "the gang is short of CPU: each pod needs 95 CPUs",
     "lower the amount of CPU that the pods request, or add nodes that have more of it"},
    {"NoNodeAdmitsThePods",
     [](Cluster& c) {
       c.world.classify(c.world.node(0), model::NodeClassId{0});
       const GangId gang = c.world.gang(1, 8, TopologyLevel::rack);
       c.world.classify(gang, c.world.pod_class({false}));
       return gang;
     },
     Layer::placement, "labels, taints or ResourceClaims exclude the pods",
     "compare the selectors, tolerations and ResourceClaims of a pod"},
    {"NoPodOfTheGangRequestsGpus",
     [](Cluster& c) {
       c.world.node(0);
       const GangId gang = c.world.gang(1, 1, TopologyLevel::node);
       const model::PodClassId pods = c.world.pod_class({true});
       c.world.catalog().eligibility.pod_classes[pods.value].unsupported = model::PodRule::no_gpus;
       c.world.classify(gang, pods);
       return gang;
     },
     Layer::placement, "no pod of the gang requests GPUs", "remove their `schedulerName`"},
    {"SomePodsOfTheReplicaDoNotExist",
     [](Cluster& c) {
       c.world.node(0);
       const GangId id = c.world.gang(1, 4, TopologyLevel::rack);
       Gang gang = c.world.snapshot.gangs.at(id);
       gang.spec.pods.minimum = 3;
       c.world.snapshot.gangs.set(id, gang);
       return id;
     },
     Layer::placement, "1 of the 3 pods that the replica needs exists", "wait until the workload has created them"},
    {"TheFreeGpusAreInTwoRacks",
     [](Cluster& c) {
       c.buys_nodes = false;
       c.world.pool({c.world.offering(8, 0, 10)}, 1000);
       c.world.node(0, 8);
       c.world.node(2, 8);
       return c.world.gang(2, 8, TopologyLevel::rack);
     },
     Layer::placement, "16 H100 are free, but at most 8 in one rack (rack-0), 16 needed", "free 8 H100 in rack-0"},
    {"TheReplicaIsLargerThanAnyNode",
     [](Cluster& c) {
       c.world.pool({c.world.offering(8, 0, 10)}, 1000);
       return c.world.gang(2, 8, TopologyLevel::node);
     },
     Layer::placement, "the replica needs 16 H100 in one node", "add an instance type with 16 H100"},
    {"AnotherSchedulerBindsThePods",
     [](Cluster& c) {
       c.world.node(0);
       c.world.catalog().services[0].workload.placed_elsewhere = true;
       return c.world.gang(1, 8, TopologyLevel::node);
     },
     Layer::placement, "another scheduler binds these pods", "kubectl describe pod"},
    {"ThePoolIsAtItsLimit",
     [](Cluster& c) {
       const model::OfferingId offering = c.world.offering(8, 0, 10);
       const model::PoolId pool = c.world.pool({offering}, 12);
       const NodeId node = c.world.node(0);
       model::Node row = c.world.snapshot.nodes.at(node);
       row.pool = pool;
       row.offering = offering;
       c.world.snapshot.nodes.set(node, row);
       c.world.bind(c.world.gang(1, 8, TopologyLevel::node), node);
       return c.world.gang(1, 8, TopologyLevel::node);
     },
     Layer::pool_limit, "pool pool has 8 of its 12 GPUs, 8 more needed",
     "raise the GPU limit of pool pool from 12 to 16"},
    {"ThePoolMayNeverBuyEnough",
     [](Cluster& c) {
       c.world.pool({c.world.offering(8, 0, 10)}, 8);
       return c.world.gang(2, 8, TopologyLevel::rack);
     },
     Layer::pool_limit, "the replica needs 16 H100 in one rack, pool pool may have 8",
     "raise the GPU limit of pool pool from 8 to 16"},
    {"OnlyNodesThatExcludeThePodsAreEnough",  // and the pool with the lower limit sells nodes that exclude them, too
     [](Cluster& c) {
       const model::OfferingId offering = c.world.offering(8, 0, 10);
       const model::PoolId excluding = c.world.pool({offering}, 1);
       c.world.pool({offering}, 8);
       c.world.catalog().eligibility.purchases[{excluding, offering}] = {0};
       for (int i = 0; i < 2; ++i) c.world.classify(c.world.node(0), model::NodeClassId{0});
       const GangId gang = c.world.gang(2, 8, TopologyLevel::cluster);
       c.world.classify(gang, c.world.pod_class({false}));
       return gang;
     },
     Layer::pool_limit, "the replica needs 16 H100, pool pool-1 may have 8",
     "raise the GPU limit of pool pool-1 from 8 to 16"},
    {"NoPoolSellsTheGpuOfALargeReplica",
     [](Cluster& c) {
       c.world.node(0, 8);
       return c.world.gang(2, 8, TopologyLevel::cluster);
     },
     Layer::capacity, "the replica needs 16 H100, the largest cluster has 8, and pools may buy 0",
     "add an instance type with 8 H100 to a pool"},
    {"TheFleetMayHaveNoNode",
     [](Cluster& c) {
       c.world.pool({c.world.offering(8, 0, 10)}, 1000);
       c.world.catalog().limits.nodes = 0;
       return c.world.gang(1, 8, TopologyLevel::node);
     },
     Layer::pool_limit, "the replica needs 1 node, the fleet may have 0",
     "raise the node limit of the fleet from 0 to 1"},
    {"TheFleetIsAtItsBudget",
     [](Cluster& c) {
       c.world.pool({c.world.offering(8, 0, 10)}, 1000);
       c.world.catalog().limits.price_per_hour = MicroUsd{4'000'000};
       return c.world.gang(1, 8, TopologyLevel::node);
     },
     Layer::pool_limit, "the budget of the fleet is 4.00 USD/h, 0.00 USD/h in use, 10.00 USD/h more needed",
     "raise the budget of the fleet to 10.00 USD/h"},
    {"KarpenterHasBoughtAllThatThePoolMayHave",  // Karpenter still collects pods, so it states no reason yet
     [](Cluster& c) {
       c.provision_policy = decide::provision::karpenter();
       const model::OfferingId offering = c.world.offering(1, 0, 3);
       const model::PoolId pool = c.world.pool({offering}, 7);
       const GangId gang = c.world.gang(8, 1, TopologyLevel::zone);
       for (std::size_t i = 0; i < 7; ++i) {
         const NodeId node = c.world.node(0, 1);
         model::Node row = c.world.snapshot.nodes.at(node);
         row.pool = pool;
         row.offering = offering;
         c.world.snapshot.nodes.set(node, row);
         c.world.bind_pod(gang, i, node);
       }
       return gang;
     },
     Layer::pool_limit, "pool pool has 7 of its 7 GPUs, 1 more needed", "raise the GPU limit of pool pool from 7 to 8"},
    {"TheCloudRefusedTheLastLaunch",
     [](Cluster& c) {
       const model::OfferingId offering = c.world.offering(8, 0, 10);
       c.world.pool({offering}, 1000);
       c.provision_memory.backoffs.push_back({offering, 1, at(70), at(250)});
       return c.world.gang(1, 8, TopologyLevel::node);
     },
     Layer::capacity, "the last launch of nodes with H100 failed 30 s ago", "wait 2 min 30 s for the next attempt"},
    {"NoPoolSellsTheGpu",
     [](Cluster& c) {
       c.world.node(0, 8);
       const GangId first = c.world.gang(1, 8, TopologyLevel::node);
       c.world.bind(first, NodeId{0});
       return c.world.gang(1, 8, TopologyLevel::node);
     },
     Layer::capacity, "no pool offers an instance type with 8 H100 in one node", "add an instance type with 8 H100"},
    {"NothingIsBoughtHere",
     [](Cluster& c) {
       c.buys_nodes = false;
       c.world.pool({c.world.offering(8, 0, 10)}, 1000);
       c.world.bind(c.world.gang(1, 8, TopologyLevel::node), c.world.node(0, 8));
       return c.world.gang(1, 8, TopologyLevel::node);
     },
     Layer::capacity, "0 of the 8 H100 needed are free", "add 8 H100"},
    {"TheNodeIsBoughtNow",
     [](Cluster& c) {
       c.world.pool({c.world.offering(8, 0, 10)}, 1000);
       return c.world.gang(1, 8, TopologyLevel::node);
     },
     Layer::cold_start, "1 node of i0 bought now for 10.00 USD/h", "wait"},
    {"TheNodeBoots",
     [](Cluster& c) {
       c.launch_node();
       return c.world.gang(1, 8, TopologyLevel::node);
     },
     Layer::cold_start, "claim 0 of pool pool is on the way", "wait: the node is ready in 2 min 9 s, and then"},
    {"TheNodeBootsAndTheStartOfTheReplicaIsKnown",
     [](Cluster& c) {
       c.launch_node();
       const GangId gang = c.world.gang(1, 8, TopologyLevel::node);
       Gang waiting = c.world.snapshot.gangs.at(gang);
       waiting.created_at = at(70);
       c.world.snapshot.gangs.set(gang, waiting);
       c.scale.lead = std::chrono::seconds(200);
       return gang;
     },
     Layer::cold_start, "claim 0 of pool pool is on the way",
     "wait about 2 min 50 s until it serves: the node is ready in 2 min 9 s, and then the replica has to load"},
    {"TheNodeOfAJobBoots",
     [](Cluster& c) {
       c.launch_node();
       const GangId gang = c.world.gang(1, 8, TopologyLevel::node);
       Gang job = c.world.snapshot.gangs.at(gang);
       job.service = {};
       c.world.snapshot.gangs.set(gang, job);
       return gang;
     },
     Layer::cold_start, "claim 0 of pool pool is on the way", "wait 2 min 9 s: the node is ready then"},
    {"TheLastOfItsNodesIsOverdue",
     [](Cluster& c) {
       const model::OfferingId offering = c.world.offering(8, 0, 10);
       const model::PoolId pool = c.world.pool({offering}, 1000);
       for (const std::int64_t ready_s : {40, 30}) {
         const model::ClaimId claim = c.world.claim(pool, offering, model::Claim::Phase::launched, 0);
         model::Claim row = c.world.snapshot.claims.at(claim);
         row.expected_ready_at = at(ready_s);
         c.world.snapshot.claims.set(claim, row);
         c.names.claims.set(claim, "h100-" + std::to_string(ready_s));
       }
       return c.world.gang(2, 8, TopologyLevel::zone);
     },
     Layer::cold_start, "2 nodes on the way, the last one is claim h100-40 of pool pool",
     "overdue by 1 min: read the conditions of NodeClaim h100-40"},
    {"TheEngineLoadsItsModel",
     [](Cluster& c) {
       const GangId gang = c.world.gang(1, 8, TopologyLevel::node);
       c.world.bind(gang, c.world.node(0), Gang::Phase::starting);
       Gang row = c.world.snapshot.gangs.at(gang);
       row.expected_ready_at = at(145);
       c.world.snapshot.gangs.set(gang, row);
       return gang;
     },
     Layer::cold_start, "the engine loads its model", "wait 45 s"},
    {"ThePodsAreBoundNow",
     [](Cluster& c) {
       c.world.node(0);
       return c.world.gang(1, 8, TopologyLevel::node);
     },
     Layer::none, "nothing: the pods are bound now", ""},
};

TEST(Summary, APendingReplicaNamesTheLayerAtFaultAndTheChangeThatHelps) {
  for (const Cause& cause : kCauses) {
    Cluster cluster;
    const GangId gang = cause.build(cluster);
    cluster.decide_now();
    const Summary summary = cluster.summarizer().gang(gang, cluster.scale);
    EXPECT_EQ(name(summary.limit.layer), name(cause.layer)) << cause.name << '\n' << lines(summary);
    EXPECT_TRUE(summary.limit.text.contains(cause.text)) << cause.name << '\n' << lines(summary);
    EXPECT_TRUE(summary.limit.change.contains(cause.change)) << cause.name << '\n' << lines(summary);
    const model::PodId pod = cluster.world.snapshot.gangs.at(gang).pods.front();
    EXPECT_EQ(cluster.summarizer().pod(pod, cluster.scale).limit.text, summary.limit.text) << cause.name;
  }
}

TEST(Summary, EachLayerHasItsMetric) {
  for (int layer = 1; layer <= static_cast<int>(Layer::cold_start); ++layer) {
    EXPECT_FALSE(metric(static_cast<Layer>(layer)).empty()) << name(static_cast<Layer>(layer));
  }
  EXPECT_TRUE(metric(Layer::none).empty());
  Cluster cluster;
  const GangId gang = cluster.world.gang(1, 8, TopologyLevel::node);
  cluster.world.pool({cluster.world.offering(8, 0, 10)}, 8);
  cluster.world.catalog().limits.nodes = 0;
  cluster.decide_now();
  EXPECT_TRUE(lines(cluster.summarizer().gang(gang, cluster.scale)).ends_with("(metric: karpenter_nodepools_usage)"));
}

TEST(Summary, HeldGpusHaveAPrice) {
  Cluster cluster;
  const NodeId node = cluster.world.node(0);
  cluster.price(node, cluster.world.offering(8, 0, 24));
  const GangId gang = cluster.world.gang(2, 4, TopologyLevel::rack);
  cluster.world.bind_pod(gang, 0, node);
  cluster.decide_now();
  EXPECT_EQ(cluster.summarizer().gang(gang, cluster.scale).present,
            "pending, 1 of 2 pods bound; 4 GPUs held (H100), 12.00 USD/h");
  EXPECT_EQ(cluster.summarizer().node(node).present, "8 H100, 4 held by 1 pod, 4 free; 24.00 USD/h");
  EXPECT_EQ(cluster.summarizer().service(cluster.scale).present,
            "0 ready, 0 starting, 1 pending, 0 draining; 4 GPUs held (H100), 12.00 USD/h");
}

TEST(Summary, AnEmptyNodeStaysForItsWaitOrForTheMinimumOfItsPool) {
  Cluster cluster;
  const NodeId node = cluster.world.node(0);
  const auto change_of = [&](const model::Reason& why) {
    cluster.provision.plan.no_actions = {{model::Plan::NoAction::Subject::node, node.value, why}};
    return cluster.summarizer().node(node).limit.change;
  };
  EXPECT_EQ(change_of({ReasonCode::not_quiet_yet, {120, 3600}}),
            "wait: the pool gives it back when it has been empty long enough");
  EXPECT_EQ(change_of({ReasonCode::pool_minimum, {1, 2, 0}}),
            "lower the minimum of its pool if the node is not needed");
}

TEST(Summary, AnUnknownPriceIsNotZero) {
  Cluster cluster;
  cluster.world.bind(cluster.world.gang(1, 8, TopologyLevel::node), cluster.world.node(0));
  cluster.decide_now();
  EXPECT_EQ(cluster.summarizer().service(cluster.scale).present,
            "1 ready, 0 starting, 0 pending, 0 draining; 8 GPUs held (H100), price unknown");
  cluster.world.catalog().services[0].workload.price_per_hour = {16'000'000};
  EXPECT_EQ(cluster.summarizer().service(cluster.scale).present,
            "1 ready, 0 starting, 0 pending, 0 draining; 8 GPUs held (H100), 16.00 USD/h");
}

/// A reason of the scale layer and the limit that it states for a service whose replicas all serve.
struct ScaleLimit {
  model::Reason why;
  const char* text;
  const char* change;
};

TEST(Summary, AServiceWhoseReplicasServeIsLimitedByItsOwnBounds) {
  const ScaleLimit rows[] = {
      {{ReasonCode::nothing_to_do, {}}, "nothing", ""},
      {{ReasonCode::at_maximum, {11, 9}},
       "chat has a maximum of 9 replicas, 11 wanted",
       "raise the maximum of chat above 9 in small steps, and not to 11 at once: that number follows the policy's "
       "metric, not the demand"},
      {{ReasonCode::at_minimum, {1, 2}},
       "chat has a minimum of 2 replicas, 1 would be enough",
       "lower the minimum of chat from 2 to 1"},
      {{ReasonCode::below_minimum, {1, 2}},
       "chat has a minimum of 2 replicas, above the 1 requested before",
       "lower the minimum of chat from 2 to 1"},
      {{ReasonCode::rate_limited, {6, 4}},
       "the scaling behavior of chat allows 4 replicas in this period, 6 wanted",
       "wait for the next period, or raise value in behavior.scaleUp.policies of the HPA"},
      {{ReasonCode::cooling_down, {1, 4, 300}},
       "1 replica would be enough, but the stabilization window keeps 4",
       "wait at most 5 min, or shorten the window (behavior.coolDown; HPA: stabilizationWindowSeconds)"},
      {{ReasonCode::cooling_down, {6, 4, 60}},
       "6 replicas would be needed, but the stabilization window keeps 4",
       "wait at most 1 min, or shorten the window (behavior.coolDown; HPA: stabilizationWindowSeconds)"},
      {{ReasonCode::cooling_down, {0, 1, 300}},
       "chat has a minimum of 1 replica, 0 would be enough",
       "none: without a replica, a metric of its pods is gone, and nothing starts one again"},
      {{ReasonCode::surplus_kept, {1, 2'400, 1'200}},
       "1 replica would be enough now, but more were needed within the last 20 min",
       "wait at most 20 min"},
      {{ReasonCode::signal_missing, {2, 3}},
       "2 of 3 replicas gave no usable reading, so the number is not lowered",
       "find the lost signal: capstan explain signals chat"},
  };
  for (const ScaleLimit& row : rows) {
    Cluster cluster;
    cluster.world.bind(cluster.world.gang(1, 8, TopologyLevel::node), cluster.world.node(0));
    cluster.scale.why = row.why;
    cluster.decide_now();
    const Limit limit = cluster.summarizer().service(cluster.scale).limit;
    EXPECT_EQ(limit.text, row.text);
    EXPECT_EQ(limit.change, row.change);
  }
}

TEST(Summary, AFixedNumberOrAMaximumLimitsNothingWhileAReplicaStarts) {
  Cluster cluster;
  const model::GangId gang = cluster.world.gang(1, 8, TopologyLevel::node);
  cluster.world.bind(gang, cluster.world.node(0));
  cluster.scale.why = {ReasonCode::fixed_replicas, {1}};
  cluster.decide_now();
  EXPECT_EQ(cluster.summarizer().service(cluster.scale).limit.text,
            "the policy sets a fixed number of replicas for chat");
  model::Gang starting = cluster.world.snapshot.gangs.at(gang);
  starting.phase = model::Gang::Phase::starting;
  cluster.world.snapshot.gangs.set(gang, starting);
  cluster.decide_now();
  EXPECT_EQ(cluster.summarizer().service(cluster.scale).limit.text, "1 replica starting");
  cluster.scale.why = {ReasonCode::at_maximum, {11, 9}};
  EXPECT_EQ(cluster.summarizer().service(cluster.scale).limit.text, "1 replica starting");
  cluster.scale.sizing.emplace().needed_milli = 10'600;
  EXPECT_EQ(cluster.summarizer().service(cluster.scale).limit.layer, Layer::replicas) << "the load needs more";
}

TEST(Summary, OnlyCapstansOwnPolicyKnowsTheMaximumThatTheLoadNeeds) {
  Cluster cluster;
  cluster.world.bind(cluster.world.gang(1, 8, TopologyLevel::node), cluster.world.node(0));
  cluster.scale.why = {ReasonCode::at_maximum, {11, 9}};
  cluster.scale.sizing.emplace();
  const auto change = [&](std::int64_t needed_milli, std::int64_t backlog_milli) {
    cluster.scale.sizing->needed_milli = needed_milli;
    cluster.scale.sizing->backlog_milli = backlog_milli;
    cluster.decide_now();
    return cluster.summarizer().service(cluster.scale).limit.change;
  };
  EXPECT_EQ(change(10'600, 0), "raise the maximum of chat from 9 to 11");
  EXPECT_EQ(change(10'600, 100), "raise the maximum of chat from 9 to 11");
  EXPECT_TRUE(change(10'600, 1'200).contains("from 9 to 10 for the load without its queue, or to 11"));
  EXPECT_EQ(change(10'600, 8'600),
            "the load without its queue needs 2 replicas; raise the maximum of chat from 9 to 11 only to work off the "
            "queue faster");
}

TEST(Summary, TheAdviceAboutMissingSignalsFitsTheSetting) {
  Cluster cluster;
  cluster.scale.why = {ReasonCode::signal_missing, {1, 1}};
  cluster.scale.current = cluster.scale.desired = 0;
  cluster.decide_now();
  const auto change = [&](Environment environment) {
    return cluster.summarizer().service(cluster.scale, environment).limit.change;
  };
  EXPECT_EQ(change(Environment::cluster), "wait: no replica is ready yet, so none can report its load");
  EXPECT_EQ(change(Environment::simulation), "wait: no replica is ready yet, so none can report its load");
  cluster.world.bind(cluster.world.gang(1, 8, TopologyLevel::node), cluster.world.node(0));
  cluster.decide_now();
  EXPECT_EQ(change(Environment::active), "find the lost signal: capstan explain signals chat");
  EXPECT_TRUE(change(Environment::simulation).contains("cluster.scrape")) << change(Environment::simulation);
}

TEST(Summary, NewReplicasExistOnlyAfterTheyWereAskedFor) {
  struct Row {
    Environment environment;
    ReplicaCount current;
    Layer layer;
    const char* text;
    const char* change;
  };
  const Row rows[] = {
      {Environment::shadow, 1, Layer::replicas, "mode Shadow only shows the 2 new replicas and does not request them",
       "set mode Active, or set the replicas of chat to 3 yourself"},
      {Environment::active, 1, Layer::cold_start, "pods of the 2 new replicas do not exist yet",
       "wait: this decision requests them"},
      {Environment::simulation, 1, Layer::cold_start, "pods of the 2 new replicas do not exist yet",
       "wait: this decision requests them"},
      {Environment::cluster, 1, Layer::replicas, "the 2 new replicas are not requested yet",
       "in mode Active wait, this decision requests them; in mode Shadow set the replicas of chat to 3"},
      {Environment::shadow, 3, Layer::cold_start, "pods of the 2 new replicas do not exist yet",
       "wait: their workload creates them"},
  };
  for (const Row& row : rows) {
    Cluster cluster;
    cluster.world.bind(cluster.world.gang(1, 8, TopologyLevel::node), cluster.world.node(0));
    cluster.scale.current = row.current;
    cluster.scale.desired = 3;
    cluster.decide_now();
    const Limit limit = cluster.summarizer().service(cluster.scale, row.environment).limit;
    EXPECT_EQ(name(limit.layer), name(row.layer)) << row.text;
    EXPECT_EQ(limit.text, row.text);
    EXPECT_EQ(limit.change, row.change);
  }
}

TEST(Summary, APendingReplicaLimitsAServiceMoreThanItsMaximum) {
  Cluster cluster;
  cluster.world.gang(1, 8, TopologyLevel::node);
  cluster.world.pool({cluster.world.offering(8, 0, 10)}, 8);
  cluster.world.catalog().limits.gpus = 4;
  cluster.scale.why = {ReasonCode::at_maximum, {11, 9}};
  cluster.decide_now();
  EXPECT_EQ(cluster.summarizer().service(cluster.scale).limit.layer, Layer::pool_limit);
}

TEST(Summary, ALongReasonIsShownWhole) {
  Summary summary;
  summary.wanted = "9 replicas of chat: " + std::string(300, 'a');
  summary.present = "9 ready";
  summary.limit = {Layer::none, "nothing", {}};
  EXPECT_EQ(lines(summary), "wanted:  " + summary.wanted + "\npresent: 9 ready\nlimit:   nothing");
}

TEST(Summary, AGangSaysThatGangsWithAHigherPriorityAreServedFirst) {
  Cluster c;
  c.world.pool({c.world.offering(8, 0, 10)}, 64);
  const GangId low = c.world.gang(1, 8, TopologyLevel::node);
  const GangId high = c.world.gang(1, 8, TopologyLevel::node, 1);
  Gang row = c.world.snapshot.gangs.at(high);
  row.spec.priority = 50;
  c.world.snapshot.gangs.set(high, row);
  c.decide_now();
  const Summary first = c.summarizer().gang(high, c.scale), second = c.summarizer().gang(low, c.scale);
  EXPECT_NE(first.wanted.find(", priority 50"), std::string::npos) << first.wanted;
  EXPECT_EQ(first.present.find("served first"), std::string::npos) << first.present;
  EXPECT_NE(second.present.find("; 1 gang with a higher priority is served first"), std::string::npos)
      << second.present;
  const std::string json = explain::json(*c.world.snapshot.catalog, c.place);
  EXPECT_NE(json.find("\"waiting_before\":1"), std::string::npos) << json;
}

}  // namespace
}  // namespace capstan::explain
