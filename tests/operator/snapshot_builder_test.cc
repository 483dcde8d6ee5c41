#include "operator/snapshot/snapshot_builder.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "archive/saved_state.h"
#include "fleet/index.h"
#include "model/consistency.h"
#include "objects.h"

namespace capstan::op {
namespace {

using std::chrono::seconds;

using testing::Cluster;
using testing::kIn2027;
using testing::Object;

model::ReplicaSignals waiting(std::int64_t requests) {
  model::ReplicaSignals signals;
  signals.waiting = model::Signal::measured(requests);
  return signals;
}

TEST(SnapshotBuilder, AddsRowsForScalersPodsAndNodes) {
  Cluster cluster;
  cluster.nodes.put(testing::node("n1"));
  cluster.scalers.put(testing::scaler("chat", "chat"));
  cluster.deployments.put(testing::deployment("chat", 3));
  cluster.pods.put(testing::pod("chat-a", "chat", "n1", true));
  cluster.pods.put(testing::pod("chat-b", "chat"));
  cluster.pods.put(testing::pod("other", "db", "n1", true, 2));
  SnapshotBuilder builder;
  const auto [snapshot, delta, scraped] = builder.build(cluster.view(), {{"chat-a", waiting(7)}}, kIn2027);

  EXPECT_EQ(snapshot.at, kIn2027);
  EXPECT_EQ(snapshot.catalog->service({0}).name, "ns/chat");
  EXPECT_EQ(snapshot.services.at({0}).desired_replicas, 3);
  ASSERT_EQ(snapshot.gangs.size(), 3u);
  const model::Gang& serving = snapshot.gangs.at({0});
  EXPECT_EQ(serving.phase, model::Gang::Phase::ready);
  EXPECT_EQ(snapshot.signals_of({0}).waiting.value, 7);
  EXPECT_EQ(snapshot.catalog->gpu_kind(serving.spec.pods.gpu), "h100_sxm");
  EXPECT_EQ(snapshot.gangs.at({1}).phase, model::Gang::Phase::pending);
  EXPECT_EQ(snapshot.gangs.at({1}).ordinal, 1u);
  EXPECT_FALSE(snapshot.gangs.at({2}).service.valid()) << "the pod belongs to another scheduler";
  EXPECT_EQ(fleet::build(snapshot).rooms.find({0})->free.sum, whole_gpus(5)) << "8 less 1 less 2";
  EXPECT_EQ(builder.names().pods.at({0}), "ns/chat-a");
  EXPECT_EQ(delta.pods.size(), 3u);
  ASSERT_EQ(scraped->size(), 1u);
  EXPECT_EQ(scraped->front().pod->meta.name, "chat-a");

  const SnapshotBuilder::Output second = builder.build(cluster.view(), {{"chat-a", waiting(7)}}, kIn2027 + seconds(1));
  EXPECT_TRUE(second.delta.empty());
}

TEST(SnapshotBuilder, ReadsStepLimitsFromEngineArguments) {
  Cluster cluster;
  cluster.scalers.put(testing::scaler("chat", "chat"));
  Object deployment = testing::deployment("chat", 1);
  cluster.deployments.put(deployment);
  SnapshotBuilder builder;
  const auto limits = [&] {
    return builder.build(cluster.view(), {}, {}).snapshot.catalog->services[0].workload.step_limits;
  };
  EXPECT_EQ(limits(), model::StepLimits{}) << "without arguments";
  deployment["spec"]["template"]["spec"]["containers"][0]["command"] = {"vllm", "serve", "m", "--max-num-seqs", "48"};
  cluster.deployments.put(deployment);
  EXPECT_EQ(limits(), (model::StepLimits{48, 0}));
}

TEST(SnapshotBuilder, OmitsServicesThatAreOffOrHaveNoTarget) {
  Cluster cluster;
  cluster.scalers.put(testing::scaler("chat", "chat"));
  SnapshotBuilder builder;
  EXPECT_TRUE(builder.build(cluster.view(), {}, {}).snapshot.services.empty()) << "the Deployment does not exist";
  cluster.deployments.put(testing::deployment("chat", 1));
  EXPECT_EQ(builder.build(cluster.view(), {}, {}).snapshot.services.size(), 1u);
  cluster.fleet.put({{"metadata", {{"name", "default"}}}, {"spec", {{"layers", {{"replicas", "Off"}}}}}});
  EXPECT_TRUE(builder.build(cluster.view(), {}, {}).snapshot.services.empty()) << "the fleet's mode is Off";
}

TEST(SnapshotBuilder, EachTargetOfAScalerIsAService) {
  Cluster cluster;
  Object both = testing::scaler("chat", "prefill");
  both["spec"]["roles"][0]["role"] = "prefill";
  Object decode = both["spec"]["roles"][0];
  decode["role"] = "decode";
  decode["variants"][0]["targetRef"]["name"] = "decode";
  both["spec"]["roles"].push_back(decode);
  both["spec"]["decodePerPrefill"] = {{"min", "0.5"}, {"max", "4"}};
  cluster.scalers.put(both);
  cluster.deployments.put(testing::deployment("prefill", 1));
  cluster.deployments.put(testing::deployment("decode", 4));
  cluster.pods.put(testing::pod("d", "decode", "n1", true));
  SnapshotBuilder builder;
  const model::Snapshot snapshot = builder.build(cluster.view(), {}, {}).snapshot;
  ASSERT_EQ(snapshot.services.size(), 2u);
  EXPECT_EQ(snapshot.catalog->service({1}).name, "ns/chat/decode");
  EXPECT_EQ(snapshot.catalog->service({1}).workload.role, model::Role::decode);
  EXPECT_EQ(snapshot.catalog->service({1}).prefill_service, model::ServiceId{0});
  EXPECT_FALSE(snapshot.catalog->service({0}).prefill_service.valid());
  for (const model::ServiceId id : {model::ServiceId{0}, model::ServiceId{1}}) {
    const model::RoleLimits& limits = snapshot.catalog->service(id).role_limits;
    EXPECT_EQ(limits.decode_per_prefill_least_milli, 500) << id.value;
    EXPECT_EQ(limits.decode_per_prefill_most_milli, 4000) << id.value;
    EXPECT_EQ(limits.conversion, Duration{}) << "pods in a cluster do not change their role";
  }
  EXPECT_EQ(snapshot.services.at({1}).desired_replicas, 4);
  EXPECT_EQ(snapshot.gangs.at({0}).service, model::ServiceId{1});
  EXPECT_EQ(builder.services().at({1}).target.name, "decode");
}

/// Returns a scaler with one role and these targets with their prices.
Object scaler_of_variants(const std::vector<std::pair<std::string, std::string>>& targets) {
  Object scaler = testing::scaler("chat", targets.front().first);
  Object& variants = scaler["spec"]["roles"][0]["variants"];
  const Object first = variants[0];
  variants = Object::array();
  for (const auto& [name, price] : targets) {
    Object variant = first;
    variant["targetRef"]["name"] = name;
    if (!price.empty()) variant["costPerHour"] = price;
    variants.push_back(variant);
  }
  return scaler;
}

TEST(SnapshotBuilder, LinksTheVariantsOfARole) {
  using Ids = std::vector<model::ServiceId>;
  struct Row {
    const char* title;
    std::vector<std::pair<std::string, std::string>> targets;
    std::vector<std::string> deployments;
    Ids alternatives;  // alternatives of the first variant
  };
  const Row rows[] = {
      {"one target", {{"a", ""}}, {"a"}, {}},
      {"three targets", {{"a", ""}, {"b", ""}, {"c", ""}}, {"a", "b", "c"}, {{1}, {2}}},
      {"one target does not exist", {{"a", ""}, {"b", ""}, {"c", ""}}, {"a", "c"}, {{2}}},
      {"one target is named twice", {{"a", ""}, {"b", ""}, {"b", ""}}, {"a", "b"}, {{1}}},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.title);
    Cluster cluster;
    cluster.scalers.put(scaler_of_variants(row.targets));
    for (const std::string& name : row.deployments) cluster.deployments.put(testing::deployment(name, 1));
    SnapshotBuilder builder;
    const model::Snapshot snapshot = builder.build(cluster.view(), {}, {}).snapshot;
    EXPECT_EQ(snapshot.catalog->service({0}).alternatives, row.alternatives);
    for (const model::ServiceId other : row.alternatives)
      EXPECT_TRUE(snapshot.catalog->service(other).alternatives.empty());
  }
}

TEST(SnapshotBuilder, VariantHasItsStatedPrice) {
  Cluster cluster;
  cluster.scalers.put(scaler_of_variants({{"a", "6.88"}, {"b", ""}}));
  cluster.deployments.put(testing::deployment("a", 1));
  cluster.deployments.put(testing::deployment("b", 1));
  SnapshotBuilder builder;
  const model::Snapshot snapshot = builder.build(cluster.view(), {}, {}).snapshot;
  EXPECT_EQ(snapshot.catalog->service({0}).workload.price_per_hour, MicroUsd{6'880'000});
  EXPECT_EQ(snapshot.catalog->service({1}).workload.price_per_hour, MicroUsd{});
}

TEST(SnapshotBuilder, DeletedScalerKeepsItsIds) {
  Cluster cluster;
  cluster.scalers.put(testing::scaler("chat", "chat"));
  cluster.deployments.put(testing::deployment("chat", 1));
  SnapshotBuilder builder;
  builder.build(cluster.view(), {}, {});
  cluster.scalers.remove("ns/chat");
  EXPECT_EQ(builder.build(cluster.view(), {}, {}).snapshot.catalog->service({0}).name, "");
  EXPECT_TRUE(builder.services().empty());
  Object recreated = testing::scaler("chat", "chat");
  recreated["metadata"]["uid"] = "another";
  cluster.scalers.put(recreated);
  const model::Snapshot second = builder.build(cluster.view(), {}, {}).snapshot;
  EXPECT_EQ(second.services.find({0}), nullptr);
  EXPECT_EQ(second.catalog->service({1}).name, "ns/chat");
}

TEST(SnapshotBuilder, OlderOfTwoScalersHasTheTarget) {
  Cluster cluster;
  Object younger = testing::scaler("a", "chat");
  younger["metadata"]["creationTimestamp"] = "2026-11-21T17:00:00Z";
  cluster.scalers.put(younger);
  cluster.scalers.put(testing::scaler("b", "chat"));
  cluster.deployments.put(testing::deployment("chat", 2));
  cluster.pods.put(testing::pod("p", "chat", "n1", true));
  SnapshotBuilder builder;
  const model::Snapshot snapshot = builder.build(cluster.view(), {}, {}).snapshot;
  ASSERT_EQ(snapshot.services.size(), 1u);
  EXPECT_EQ(builder.services().at({0}).scaler, "b");
  EXPECT_EQ(snapshot.gangs.at({0}).service, model::ServiceId{0});
}

TEST(SnapshotBuilder, DoesNotActNextToACompetitor) {
  Cluster cluster;
  Object active = testing::scaler("chat", "chat");
  active["spec"]["mode"] = "Active";
  cluster.scalers.put(active);
  cluster.deployments.put(testing::deployment("chat", 2));
  cluster.fleet.put({{"metadata", {{"name", "default"}}}, {"spec", {{"layers", {{"replicas", "Active"}}}}}});
  SnapshotBuilder builder;
  builder.build(cluster.view(), {}, {});
  EXPECT_EQ(builder.services().at({0}).mode, Mode::active);
  cluster.autoscalers.put(
      {{"metadata", testing::meta("hpa")}, {"spec", {{"scaleTargetRef", {{"kind", "Deployment"}, {"name", "chat"}}}}}});
  builder.build(cluster.view(), {}, {});
  EXPECT_EQ(builder.services().at({0}).mode, Mode::shadow);
}

TEST(SnapshotBuilder, ClaimIsANodeOnOrder) {
  Cluster cluster;
  cluster.claims.put(
      {{"metadata",
        {{"name", "gpu-x"},
         {"uid", "c1"},
         {"labels", {{"karpenter.sh/nodepool", "gpu"}, {"capstan.dev/claim-group", "g7"}}},
         {"annotations", {{"capstan.dev/claim-together", "true"}}}}},
       {"spec",
        {{"requirements", {{{"key", "topology.kubernetes.io/zone"}, {"operator", "In"}, {"values", {"a"}}}}},
         {"resources", {{"requests", {{"nvidia.com/gpu", "8"}}}}}}}});
  SnapshotBuilder builder;
  const model::Snapshot before = builder.build(cluster.view(), {}, {}).snapshot;
  ASSERT_EQ(before.claims.size(), 1u);
  EXPECT_EQ(before.claims.at({0}).phase, model::Claim::Phase::requested);
  EXPECT_EQ(before.claims.at({0}).group, (model::ClaimGroupId{0}));
  EXPECT_EQ(before.catalog->offering(before.claims.at({0}).offering).gpus, 8);
  EXPECT_EQ(before.catalog->pool(before.claims.at({0}).pool).name, "gpu");

  Object claim = cluster.claims.all().at("gpu-x");
  claim["status"] = {
      {"nodeName", "n1"},
      {"conditions", {{{"type", "Launched"}, {"status", "True"}}, {{"type", "Registered"}, {"status", "True"}}}}};
  cluster.claims.put(claim);
  cluster.nodes.put(testing::node("n1"));
  const model::Snapshot after = builder.build(cluster.view(), {}, {}).snapshot;
  EXPECT_EQ(after.claims.at({0}).phase, model::Claim::Phase::registered);
  EXPECT_EQ(after.claims.at({0}).node, (model::NodeId{0}));
  EXPECT_EQ(after.nodes.at({0}).claim, (model::ClaimId{0}));
}

/// Changes one random object. There are few names, so that objects refer to each other, vanish and return.
void change(Cluster& cluster, int step) {
  const auto below = [](int n) { return *rc::gen::inRange(0, n); };
  const std::string name = std::string(1, static_cast<char>('a' + below(4)));
  const std::string uid = name + std::to_string(below(3) == 0 ? step : 0);
  const std::string at_node = below(3) == 0 ? "" : std::string(1, static_cast<char>('a' + below(4)));
  const bool removes = below(4) == 0;
  switch (below(6)) {
    case 0: {
      Object node = testing::node(name, 1 + below(8), below(2) == 0 ? "a" : "b");
      node["metadata"]["uid"] = uid;
      if (below(4) == 0) node["spec"]["unschedulable"] = true;
      if (below(4) == 0) node["status"]["conditions"][0]["status"] = "False";
      if (below(6) == 0) node["status"]["allocatable"].erase("nvidia.com/gpu");
      return removes ? cluster.nodes.remove(name) : cluster.nodes.put(node);
    }
    case 1:
      return removes ? cluster.scalers.remove("ns/" + name) : cluster.scalers.put(testing::scaler(name, name));
    case 2:
      return removes ? cluster.deployments.remove("ns/" + name)
                     : cluster.deployments.put(testing::deployment(name, below(5), 1 + below(4)));
    case 3: {
      Object set = testing::deployment(name, below(3));
      set["spec"] = {{"replicas", below(3)}, {"leaderWorkerTemplate", {{"size", 2}}}};
      Object scaler = testing::scaler("set-" + name, name, "LeaderWorkerSet");
      cluster.leader_worker_sets.put(set);
      return removes ? cluster.scalers.remove("ns/set-" + name) : cluster.scalers.put(scaler);
    }
    case 4: {
      Object claim = {{"metadata", {{"name", name}, {"uid", uid}}},
                      {"spec", {{"resources", {{"requests", {{"nvidia.com/gpu", "8"}}}}}}},
                      {"status", {{"nodeName", at_node}}}};
      if (below(2) == 0) claim["spec"]["startupTaints"] = {{{"key", "driver"}, {"effect", "NoSchedule"}}};
      if (below(2) == 0) claim["status"]["conditions"] = {{{"type", "Initialized"}, {"status", "True"}}};
      return removes ? cluster.claims.remove(name) : cluster.claims.put(claim);
    }
    default: {
      const std::string pod_name = "p" + std::to_string(below(12));
      Object pod = testing::pod(pod_name, name, at_node, below(2) == 0, below(3));
      pod["metadata"]["uid"] = pod_name + uid;
      if (below(5) == 0) pod["metadata"]["deletionTimestamp"] = "2026-11-21T16:00:00Z";
      if (below(3) == 0) {
        pod["metadata"]["labels"] = {{"leaderworkerset.sigs.k8s.io/name", name},
                                     {"leaderworkerset.sigs.k8s.io/group-index", std::to_string(below(2))},
                                     {"leaderworkerset.sigs.k8s.io/worker-index", std::to_string(below(2))}};
      }
      return removes ? cluster.pods.remove("ns/" + pod_name) : cluster.pods.put(pod);
    }
  }
}

RC_GTEST_PROP(SnapshotBuilder, DeltaLeadsFromOneIndexToTheNext, ()) {
  Cluster cluster;
  SnapshotBuilder builder;
  fleet::Index index = fleet::build(builder.build(cluster.view(), {}, {}).snapshot);
  for (int pass = 1; pass < 12; ++pass) {
    const int changes = *rc::gen::inRange(0, 12);
    for (int i = 0; i < changes; ++i) change(cluster, pass * 100 + i);
    const auto [snapshot, delta, serving] = builder.build(cluster.view(), {{"p1a0", waiting(pass)}}, {seconds(pass)});
    RC_ASSERT(delta.to_version == delta.from_version + 1);
    RC_ASSERT(serving->size() <= snapshot.gangs.size());
    fleet::apply(index, snapshot, delta);
    RC_ASSERT(index == fleet::build(snapshot));
    RC_ASSERT(builder.policies().size() == snapshot.catalog->services.size());
    archive::SavedState state{snapshot, builder.names(), {"any", builder.policies(), {}, {}}, {}};
    state.memory.scale.resize(builder.policies().size());
    const Result<archive::SavedState> second = archive::parse(archive::to_json(state), "look.json");
    if (!second) RC_FAIL(second.error().text());
    RC_ASSERT(state_hash(second->snapshot) == state_hash(snapshot));
    snapshot.pods.for_each([&](model::PodId id, const model::Pod&) { RC_ASSERT(builder.names().pods.find(id)); });
    snapshot.gangs.for_each([&](model::GangId id, const model::Gang&) { RC_ASSERT(builder.names().gangs.find(id)); });
  }
}

/// Changes the status of one random pod, or sends one random node again as it is.
void change_status(Cluster& cluster) {
  const auto below = [](std::size_t n) { return *rc::gen::inRange<std::size_t>(0, n); };
  const auto any_of = [&](const auto& objects) {
    return std::next(objects.begin(), std::ptrdiff_t(below(objects.size())));
  };
  if (below(4) == 0 && !cluster.nodes.all().empty())
    return cluster.nodes.put(Object(any_of(cluster.nodes.all())->second));
  if (cluster.pods.all().empty()) return;
  Object pod = any_of(cluster.pods.all())->second;
  const auto condition = [&](const char* type, const char* hour) {
    return Object{{"type", type},
                  {"status", below(3) == 0 ? "False" : "True"},
                  {"lastTransitionTime", std::string("2026-11-21T") + hour + ":0" + std::to_string(below(9)) + ":00Z"}};
  };
  Object& status = pod["status"] = {{"phase", below(8) == 0 ? "Succeeded" : "Running"}, {"podIP", "10.0.0.1"}};
  status["conditions"] = {condition("PodScheduled", "16"), condition("Ready", "16")};
  if (below(3) == 0) status["conditions"].push_back(condition("capstan.dev/serving", "17"));
  if (below(3) == 0) pod["metadata"]["deletionTimestamp"] = "2026-11-21T18:00:00Z";
  cluster.pods.put(pod);
}

std::string text_of(const SnapshotBuilder& builder, const SnapshotBuilder::Output& seen) {
  archive::SavedState state{seen.snapshot, builder.names(), {"any", builder.policies(), {}, {}}, {}};
  state.memory.scale.resize(builder.policies().size());
  return archive::to_json(state);
}

// A builder that reads all objects at every pass is the reference. Both give out the same ids.
RC_GTEST_PROP(SnapshotBuilder, FollowsChangesAsIfItReadAllObjects, ()) {
  Cluster cluster;
  SnapshotBuilder builder;
  SnapshotBuilder reference;
  Readings readings;
  for (int pass = 1; pass < 16; ++pass) {
    const bool status_alone = *rc::gen::inRange(0, 4) != 0;
    for (int i = *rc::gen::inRange(0, pass == 1 ? 40 : 6); i > 0; --i) {
      status_alone&& pass > 1 ? change_status(cluster) : change(cluster, pass * 100 + i);
    }
    if (*rc::gen::inRange(0, 2) == 0) readings = Readings({{"p1a0", waiting(pass)}, {"p2b0", waiting(7)}});
    // One pass in five is at a time before most objects were created. The builder counts an object from the future as
    // created at the time of the pass.
    const Instant at = kIn2027 - std::chrono::hours(24 * (*rc::gen::inRange(0, 5) == 0 ? 100 : 0)) + seconds(pass);
    reference.forget_last_pass();
    const SnapshotBuilder::Output expected = reference.build(cluster.view(), readings, at);
    const SnapshotBuilder::Output seen = builder.build(cluster.view(), readings, at);
    RC_ASSERT(text_of(builder, seen) == text_of(reference, expected));
    RC_ASSERT(model::state_hash(seen.snapshot) == model::state_hash(expected.snapshot));
    RC_ASSERT(seen.delta.services == expected.delta.services);
    RC_ASSERT(seen.delta.nodes == expected.delta.nodes);
    RC_ASSERT(seen.delta.claims == expected.delta.claims);
    RC_ASSERT(seen.delta.gangs == expected.delta.gangs);
    RC_ASSERT(seen.delta.pods == expected.delta.pods);
    RC_ASSERT(seen.serving->size() == expected.serving->size());
    for (std::size_t i = 0; i < seen.serving->size(); ++i) {
      RC_ASSERT(seen.serving->at(i).service == expected.serving->at(i).service);
      RC_ASSERT(seen.serving->at(i).pod == expected.serving->at(i).pod);
    }
  }
  RC_ASSERT(reference.complete_passes() == 15u);
}

TEST(SnapshotBuilder, ANominatedPodOfAnotherSchedulerHoldsItsRoom) {
  const struct {
    const char* title;
    const char* scheduler;
    const char* node;
    std::int64_t free;
  } rows[] = {{"not nominated", "default-scheduler", "", 8},
              {"nominated", "default-scheduler", "n1", 5},
              {"nominated to an unknown node", "default-scheduler", "n2", 8},
              {"placed by Capstan", "capstan", "n1", 8}};
  for (const auto& row : rows) {
    Cluster cluster;
    cluster.nodes.put(testing::node("n1"));
    cluster.fleet.put({{"metadata", {{"name", "default"}}}, {"spec", {{"layers", {{"placement", "Active"}}}}}});
    Object pod = testing::pod("a", "batch", "", false, 3);
    pod["spec"]["schedulerName"] = row.scheduler;
    pod["status"]["nominatedNodeName"] = row.node;
    cluster.pods.put(pod);
    SnapshotBuilder builder;
    const model::Snapshot snapshot = builder.build(cluster.view(), {}, kIn2027).snapshot;
    EXPECT_EQ(fleet::build(snapshot).rooms.find({0})->free.sum, whole_gpus(row.free)) << row.title;
    EXPECT_FALSE(model::find_inconsistency(snapshot)) << row.title;
  }
}

TEST(SnapshotBuilder, UnstatedGpuComesFromThePodsNodes) {
  const auto labelled = [](const char* name, const char* gpu) {
    Object node = testing::node(name);
    node["metadata"]["labels"]["nvidia.com/gpu.product"] = gpu;
    return node;
  };
  const struct {
    const char* title;
    const char* node_of_two_pods;  ///< the node of two of the three pods; the third is on n1. Empty: no pod has a node
    const char* selects;           ///< the GPU product that the template selects
    bool one_kind;                 ///< true if all nodes have one GPU kind
    const char* gpu;
    bool known;
  } rows[] = {
      {"the nodes of most pods", "n2", "", false, "l40s", true},
      {"the selector of the template", "", "NVIDIA-L40S", false, "l40s", true},
      {"the only GPU kind of the nodes", "", "", true, "h100_sxm", true},
      {"no GPU stated", "", "", false, "h100_sxm", false},
  };
  for (const auto& row : rows) {
    Cluster cluster;
    cluster.nodes.put(labelled("n1", "NVIDIA-H100-80GB-HBM3"));
    if (!row.one_kind) cluster.nodes.put(labelled("n2", "NVIDIA-L40S"));
    cluster.scalers.put(testing::scaler("chat", "chat"));
    Object workload = testing::deployment("chat", 3);
    if (*row.selects != 0) {
      workload["spec"]["template"]["spec"]["nodeSelector"] = {{"nvidia.com/gpu.product", row.selects}};
    }
    cluster.deployments.put(workload);
    cluster.pods.put(testing::pod("chat-a", "chat", *row.node_of_two_pods != 0 ? "n1" : ""));
    cluster.pods.put(testing::pod("chat-b", "chat", row.node_of_two_pods));
    cluster.pods.put(testing::pod("chat-c", "chat", row.node_of_two_pods));
    SnapshotBuilder builder;
    const model::Catalog& catalog = *builder.build(cluster.view(), {}, {}).snapshot.catalog;
    EXPECT_EQ(catalog.gpu_kind(catalog.service({0}).workload.gpu), row.gpu) << row.title;
    EXPECT_EQ(builder.services().at({0}).gpu_known, row.known) << row.title;
  }
}

TEST(SnapshotBuilder, ExpectsStartTimesFromOtherReplicas) {
  Cluster cluster;
  cluster.nodes.put(testing::node("n1"));
  cluster.scalers.put(testing::scaler("chat", "chat"));
  cluster.deployments.put(testing::deployment("chat", 2));
  Object ready = testing::pod("chat-a", "chat", "n1", true);
  ready["status"]["conditions"] = {
      {{"type", "PodScheduled"}, {"status", "True"}, {"lastTransitionTime", "2026-11-21T16:00:10Z"}},
      {{"type", "Ready"}, {"status", "True"}, {"lastTransitionTime", "2026-11-21T16:01:40Z"}}};
  Object starts = testing::pod("chat-b", "chat", "n1");
  starts["metadata"]["creationTimestamp"] = "2026-11-21T17:00:00Z";
  cluster.pods.put(starts);
  SnapshotBuilder alone;
  EXPECT_TRUE(alone.build(cluster.view(), {}, kIn2027).snapshot.gangs.at({0}).expected_ready_at.is_never());
  cluster.pods.put(ready);
  cluster.pods.put(testing::pod("chat-c", "chat"));
  SnapshotBuilder builder;
  const model::Snapshot snapshot = builder.build(cluster.view(), {}, kIn2027).snapshot;
  snapshot.gangs.for_each([&](model::GangId, const model::Gang& gang) {
    const bool waits = gang.phase == model::Gang::Phase::starting;
    EXPECT_EQ(gang.expected_ready_at.is_never(), !waits) << "pending: it has no node, ready: it serves";
    if (waits) {
      EXPECT_EQ(gang.expected_ready_at - gang.created_at, seconds(90));
    }
  });
}

TEST(SnapshotBuilder, KnowsFromWhenTheContainersOfAReplicaRan) {
  constexpr const char* kInitialized = "2026-11-21T16:00:40Z";
  constexpr const char* kStarted = "2026-11-21T16:01:00Z";
  Cluster cluster;
  cluster.nodes.put(testing::node("n1"));
  cluster.scalers.put(testing::scaler("chat", "chat"));
  cluster.deployments.put(testing::deployment("chat", 1));
  Object pod = testing::pod("chat-a", "chat", "n1");
  cluster.pods.put(pod);
  SnapshotBuilder pulling;
  EXPECT_TRUE(pulling.build(cluster.view(), {}, kIn2027).snapshot.gangs.at({0}).containers_started_at.is_never());
  Object container = {{"restartCount", 0}};
  container["state"]["running"]["startedAt"] = kStarted;
  pod["status"]["containerStatuses"] = Object::array({container});
  pod["spec"]["initContainers"] = Object::array({{{"name", "download"}}});
  Object initialized = {{"type", "Initialized"}, {"status", "True"}};
  initialized["lastTransitionTime"] = kInitialized;
  pod["status"]["conditions"].push_back(initialized);
  cluster.pods.put(pod);
  SnapshotBuilder builder;
  const model::Snapshot snapshot = builder.build(cluster.view(), {}, kIn2027).snapshot;
  EXPECT_EQ(snapshot.gangs.at({0}).initialized_at, instant_of(*kube::read_wall_time(kInitialized)));
  EXPECT_EQ(snapshot.gangs.at({0}).containers_started_at, instant_of(*kube::read_wall_time(kStarted)));
}

TEST(SnapshotBuilder, ContradictoryScalerIsNeverActive) {
  Cluster cluster;
  cluster.fleet.put(
      {{"metadata", {{"name", "default"}, {"uid", "f"}}}, {"spec", {{"layers", {{"replicas", "Active"}}}}}});
  cluster.deployments.put(testing::deployment("chat", 1));
  Object scaler = testing::scaler("chat", "chat");
  scaler["spec"]["mode"] = "Active";
  scaler["spec"]["policy"] = "Rules";
  SnapshotBuilder builder;
  for (const int below : {0, 9}) {
    scaler["spec"]["rules"] = {{"waitingBelow", below}};
    cluster.scalers.put(scaler);
    builder.build(cluster.view(), {}, {});
    EXPECT_EQ(builder.services().at({0}).mode, below == 0 ? Mode::active : Mode::shadow);
  }
}

}  // namespace
}  // namespace capstan::op
