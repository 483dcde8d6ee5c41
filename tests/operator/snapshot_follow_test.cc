// Random sequences of watch events. A builder that follows the changed objects must give the same rows, ids, names and
// deltas as a builder that reads all objects at every pass.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <iterator>
#include <string>
#include <string_view>

#include "actuate/bind_intent.h"
#include "archive/saved_state.h"
#include "base/random.h"
#include "model/consistency.h"
#include "objects.h"
#include "operator/snapshot/snapshot_builder.h"

namespace capstan::op {
namespace {

using std::chrono::seconds;
using testing::Cluster;
using testing::Object;

constexpr Instant kFirstSecond{seconds(1'800'000'000)};

std::string saved_text(const SnapshotBuilder& builder, const SnapshotBuilder::Output& seen) {
  archive::SavedState state{seen.snapshot, builder.names(), {"any", builder.policies(), {}, {}}, {}};
  state.memory.scale.resize(builder.policies().size());
  return archive::to_json(state);
}

/// Returns a time in the format of the API server.
std::string api_time(Instant at) {
  const std::int64_t s = std::chrono::duration_cast<seconds>(at - kFirstSecond).count();
  // kFirstSecond is 2027-01-15T08:00:00Z.
  return fmt::format("2027-01-15T08:{:02}:{:02}Z", s / 60 % 60, s % 60);
}

/// A cluster whose objects change at random. There are few names, so that objects refer to each other, vanish and
/// return.
class RandomCluster {
 public:
  explicit RandomCluster(std::uint64_t seed) : random_(seed, "cluster") {
    Object fleet = {{"metadata", {{"name", "default"}}},
                    {"spec",
                     {{"layers", {{"placement", one_in(4) ? "Off" : "Active"}, {"nodes", "Active"}}},
                      {"instanceTypes", {{{"name", "p5"}, {"gpu", "H100"}, {"gpus", 8}, {"usdPerHour", "98"}}}}}}};
    if (one_in(2)) fleet["spec"]["placement"]["shadowOf"] = {"kai-scheduler"};
    cluster.fleet.put(fleet);
    for (int i = 0; i < 5; ++i) change_node();
    for (int i = 0; i < 6; ++i) change_service();
    if (one_in(2)) cluster.queues.put({{"metadata", {{"name", "team"}, {"uid", "team"}}}, {"spec", Object::object()}});
    if (one_in(2))
      cluster.kai_queues.put({{"metadata", {{"name", "team"}, {"uid", "team"}}}, {"spec", Object::object()}});
    for (int i = 0; i < 25; ++i) change_pod(kFirstSecond);
  }

  void change(Instant now) {
    const std::uint64_t kind = random_.below(53);
    if (kind >= 52) return remove_workload();
    if (kind >= 50) return change_autoscaler();
    if (kind >= 49) return change_service();
    if (kind >= 46) return change_queue();
    if (kind >= 44) return change_slice();
    if (kind >= 40) return change_resource_claim();
    if (kind < 3) return change_node();
    if (kind == 3) return change_service();
    if (kind == 4) return change_claim();
    if (kind == 5) return change_pool();
    if (kind < 7) return change_replicas();
    if (kind < 10) return change_statuses();
    if (kind == 10) return change_group();
    if (kind < 18) return change_pod_status();
    change_pod(now);
  }

  Readings readings() {
    Readings::Map readings;
    for (int i = 0; i < 6; ++i) {
      readings[pod_name() + "0"].waiting = model::Signal::measured(static_cast<std::int64_t>(random_.below(9)));
    }
    return Readings(std::move(readings));
  }

  bool one_in(std::uint64_t n) { return random_.below(n) == 0; }
  std::uint64_t below(std::uint64_t n) { return random_.below(n); }

  Cluster cluster;

 private:
  std::string letter(std::uint64_t letters = 4) { return std::string(1, static_cast<char>('a' + below(letters))); }
  std::string pod_name() { return (one_in(3) ? "web-" : "p") + std::to_string(below(14)); }

  void change_node() {
    const std::string name = letter();
    Object node = testing::node(name, 1 + static_cast<int>(below(8)), one_in(2) ? "x" : "y");
    if (one_in(3)) node["metadata"]["labels"]["nvidia.com/gpu.product"] = "A100-SXM4-80GB";
    if (one_in(2)) node["metadata"]["labels"]["disk"] = "fast";
    if (one_in(4)) node["spec"]["unschedulable"] = true;
    if (one_in(2)) node["metadata"]["labels"]["node.kubernetes.io/instance-type"] = "p5";
    if (one_in(4)) node["spec"]["taints"] = {{{"key", "team"}, {"value", "a"}, {"effect", "NoSchedule"}}};
    if (one_in(5)) {
      node["status"]["allocatable"].erase("nvidia.com/gpu");
      node["metadata"]["labels"].erase("nvidia.com/gpu.product");
    }
    node["status"]["allocatable"].update(
        {{"cpu", std::to_string(7 + below(2))}, {"pods", "5"}, {"example.com/nic", "2"}});
    one_in(6) ? cluster.nodes.remove(name) : cluster.nodes.put(node);
  }

  void change_service() {
    const std::string name = letter();
    const char* kind = one_in(3) ? "StatefulSet" : one_in(3) ? "LeaderWorkerSet" : "Deployment";
    Object scaler = testing::scaler(name + "-" + letter(2), name, kind);
    if (one_in(6)) return cluster.scalers.remove(testing::key_of(scaler));
    if (one_in(2)) scaler["spec"]["mode"] = one_in(2) ? "Off" : "Active";
    if (one_in(3)) scaler["spec"]["roles"][0]["variants"][0]["gpu"] = "H100";
    // Most new scalers are newer than all others.
    const auto old = cluster.scalers.all().find(testing::key_of(scaler));
    if (old != cluster.scalers.all().end()) {
      scaler["metadata"]["creationTimestamp"] = old->second["metadata"]["creationTimestamp"];
    } else if (!one_in(4)) {
      scaler["metadata"]["creationTimestamp"] = api_time(kFirstSecond + seconds(++scalers_));
    }
    if (one_in(3))
      scaler["spec"]["roles"][0]["variants"].push_back({{"targetRef", {{"kind", kind}, {"name", letter()}}}});
    cluster.scalers.put(scaler);
    if (one_in(3)) return;
    Object workload = testing::deployment(name, 2, static_cast<int>(below(3)));
    workload["kind"] = kind;
    choose_place(workload["spec"]["template"]);
    if (one_in(4)) workload["spec"]["selector"]["matchLabels"] = {{"tier", "gpu"}};
    if (std::string_view(kind) == "Deployment") return cluster.deployments.put(workload);
    if (std::string_view(kind) == "StatefulSet") return cluster.stateful_sets.put(workload);
    Object leader = workload["spec"]["template"];
    workload["spec"] = {{"replicas", 2}, {"leaderWorkerTemplate", {{"size", 2}, {"workerTemplate", leader}}}};
    choose_place(leader);
    if (one_in(2)) leader["spec"]["containers"] = testing::containers(0);
    if (one_in(2)) workload["spec"]["leaderWorkerTemplate"]["leaderTemplate"] = leader;
    cluster.leader_worker_sets.put(workload);
  }

  /// Chooses a scheduler and constraints for a pod or a template.
  void choose_place(Object& pod) {
    Object& spec = pod["spec"];
    if (!one_in(3)) spec["schedulerName"] = one_in(4) ? "kai-scheduler" : "capstan";
    if (one_in(4)) spec["nodeSelector"] = {{"disk", "fast"}};
    if (one_in(8)) spec["topologySpreadConstraints"] = {{{"topologyKey", "topology.kubernetes.io/zone"}}};
    if (one_in(8)) spec["schedulingGates"] = {{{"name", "kueue.x-k8s.io/admission"}}};
    if (one_in(8)) spec["nodeSelector"] = {{"topology.kubernetes.io/zone", "x"}};
    if (one_in(4)) spec["tolerations"] = {{{"key", "team"}, {"operator", "Exists"}}};
    Object& requests = spec["containers"][0]["resources"]["requests"];
    if (one_in(2)) requests["cpu"] = std::to_string(1 + below(3));
    if (one_in(12)) requests["example.com/nic"] = "1";
    if (one_in(12)) pod["metadata"]["labels"]["capstan.dev/queue"] = one_in(4) ? letter() : "team";
  }

  void change_pod(Instant now) {
    const std::string name = pod_name();
    if (one_in(4)) return cluster.pods.remove("ns/" + name);
    const auto old = cluster.pods.all().find("ns/" + name);
    if (old != cluster.pods.all().end() && !one_in(4)) {
      Object bound = old->second;
      bound["spec"]["nodeName"] = letter();
      return cluster.pods.put(bound);
    }
    Object pod = testing::pod(name, letter(), one_in(2) ? letter() : "", one_in(2), static_cast<int>(below(3)));
    Object& meta = pod["metadata"];
    meta["uid"] = name + (one_in(3) ? std::to_string(below(100)) : "0");
    if (one_in(3)) meta["creationTimestamp"] = api_time(now + seconds(below(3)));
    if (one_in(3)) meta["labels"]["tier"] = "gpu";
    choose_place(pod);
    if (one_in(4)) pod["status"]["nominatedNodeName"] = letter();
    if (one_in(4)) {
      meta["annotations"] = {{"capstan.dev/gang", letter(2)}, {"capstan.dev/gang-min", std::to_string(1 + below(3))}};
    }
    if (one_in(4)) meta["annotations"]["pod-group-name"] = "group-" + letter(2);
    if (one_in(6)) meta["annotations"][actuate::kBindIntent] = actuate::write_bind_intent({"t", letter(), 1});
    if (one_in(3)) {
      meta["labels"]["leaderworkerset.sigs.k8s.io/name"] = letter();
      meta["labels"]["leaderworkerset.sigs.k8s.io/group-index"] = std::to_string(below(3));
      meta["labels"]["leaderworkerset.sigs.k8s.io/worker-index"] = std::to_string(below(2));
      if (one_in(2)) meta["annotations"]["leaderworkerset.sigs.k8s.io/size"] = std::to_string(1 + below(2));
    }
    if (one_in(60)) {
      meta["labels"]["runai-gpu-group"] = letter(2);
      if (one_in(2)) meta["annotations"]["gpu-fraction"] = "0.5";
    }
    if (one_in(20)) {
      pod["spec"]["containers"][0]["env"] = {{{"name", "NVIDIA_VISIBLE_DEVICES"}, {"value", "all"}}};
    }
    if (one_in(40)) pod["spec"]["containers"][0]["securityContext"]["privileged"] = true;
    if (one_in(5)) {
      const char* keys[] = {"topology.kubernetes.io/zone", "disk"};
      Object term = {{"topologyKey", keys[below(2)]}, {"labelSelector", {{"matchLabels", {{"tier", "gpu"}}}}}};
      if (one_in(2)) term["labelSelector"] = Object::object();
      if (one_in(4)) term["namespaceSelector"] = Object::object();
      pod["spec"]["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"] =
          Object::array({term});
    }
    cluster.pods.put(pod);
  }

  void change_pod_status() {
    if (cluster.pods.all().empty()) return;
    Object pod = std::next(cluster.pods.all().begin(), std::ptrdiff_t(below(cluster.pods.all().size())))->second;
    const auto condition = [&](const char* type) {
      return Object{{"type", type},
                    {"status", one_in(3) ? "False" : "True"},
                    {"lastTransitionTime", "2026-11-21T16:0" + std::to_string(below(9)) + ":00Z"}};
    };
    pod["status"] = {{"phase", one_in(8) ? "Succeeded" : "Running"},
                     {"conditions", {condition("PodScheduled"), condition("Ready")}}};
    if (one_in(4)) pod["status"]["conditions"].push_back(condition("capstan.dev/serving"));
    if (one_in(4)) pod["metadata"]["deletionTimestamp"] = "2026-11-21T18:00:00Z";
    cluster.pods.put(pod);
  }

  void change_claim() {
    const std::string name = letter();
    if (one_in(3)) return cluster.claims.remove(name);
    cluster.claims.put({{"metadata", {{"name", name}, {"uid", name}}},
                        {"spec", {{"resources", {{"requests", {{"nvidia.com/gpu", "8"}}}}}}},
                        {"status", {{"nodeName", letter()}, {"allocatable", {{"cpu", std::to_string(below(9))}}}}}});
  }

  /// Changes the devices in one of the two slices of a pool. The pool has the name of a node.
  void change_slice() {
    const std::string pool = letter();
    const std::string name = pool + letter(2);
    if (one_in(4)) return cluster.resource_slices.remove("ns/" + name);
    Object devices = Object::array();
    for (std::uint64_t i = below(4); i > 0; --i) {
      Object attributes = {{"type", {{"string", one_in(6) ? "partition" : "gpu"}}},
                           {"productName", {{"string", one_in(2) ? "NVIDIA A100 80GB" : "NVIDIA H100 80GB HBM3"}}}};
      if (one_in(2)) attributes["uuid"] = {{"string", "GPU-" + std::to_string(below(4))}};
      devices.push_back({{"name", "gpu-" + std::to_string(i)}, {"attributes", attributes}});
    }
    Object spec = {{"driver", one_in(6) ? "nic.example.com" : "gpu.nvidia.com"},
                   {"pool", {{"name", pool}, {"generation", 1 + below(2)}}},
                   {"devices", devices}};
    if (!one_in(6)) spec["nodeName"] = one_in(6) ? letter() : pool;
    cluster.resource_slices.put({{"metadata", testing::meta(name)}, {"spec", spec}});
  }

  void change_queue() {
    const std::string name = one_in(2) ? "team" : letter(2);
    const bool is_kai = one_in(2);
    auto* kai = &cluster.kai_queues;
    if (one_in(3)) return is_kai ? kai->remove(name) : cluster.queues.remove(name);
    Object queue = {{"metadata", {{"name", name}, {"uid", name}}}, {"spec", Object::object()}};
    if (one_in(2)) queue["spec"][is_kai ? "parentQueue" : "parent"] = letter(3);
    if (one_in(2) && !is_kai) queue["spec"]["limit"] = {{"gpus", below(9)}};
    is_kai ? kai->put(queue) : cluster.queues.put(queue);
  }

  void change_autoscaler() {
    const std::string name = letter();
    if (one_in(3)) return cluster.autoscalers.remove("ns/" + name);
    cluster.autoscalers.put(
        {{"metadata", testing::meta(name)},
         {"spec", {{"scaleTargetRef", {{"kind", "Deployment"}, {"name", letter()}}}, {"maxReplicas", 1 + below(3)}}}});
  }

  void remove_workload() {
    for (auto* workloads : {&cluster.deployments, &cluster.stateful_sets, &cluster.leader_worker_sets}) {
      workloads->remove("ns/" + letter());
    }
  }

  void change_resource_claim() {
    const std::string name = letter();
    if (one_in(4)) return cluster.resource_claims.remove("ns/" + name);
    Object results = Object::array();
    for (std::uint64_t i = below(3); i > 0; --i) {
      results.push_back({{"request", "gpu"},
                         {"driver", "gpu.nvidia.com"},
                         {"pool", letter()},
                         {"device", "gpu-" + std::to_string(1 + below(4))}});
    }
    Object claim = {{"metadata", testing::meta(name)},
                    {"status", {{"allocation", {{"devices", {{"results", results}}}}}}}};
    for (std::uint64_t i = below(3); i > 0; --i) {
      const std::string pod = pod_name();
      claim["status"]["reservedFor"].push_back({{"resource", "pods"}, {"name", pod}, {"uid", pod + "0"}});
    }
    if (one_in(6)) {
      claim["metadata"]["annotations"] = {{"resource.kubernetes.io/extended-resource-claim", "true"}};
    }
    cluster.resource_claims.put(claim);
  }

  void change_group() {
    const std::string name = "group-" + letter(2);
    if (one_in(3)) return cluster.kai_groups.remove("ns/" + name);
    Object group = {{"metadata", testing::meta(name)}, {"spec", {{"minMember", 1 + below(3)}}}};
    if (one_in(2)) group["spec"]["queue"] = one_in(4) ? letter() : "team";
    if (one_in(2)) group["spec"]["topologyConstraint"] = {{"requiredTopologyLevel", "topology.kubernetes.io/zone"}};
    cluster.kai_groups.put(group);
  }

  void change_pool() {
    const std::string name = "pool-" + letter(2);
    Object pool = {{"metadata", {{"name", name}, {"uid", name}}},
                   {"spec", {{"template", {{"spec", Object::object()}}}}}};
    if (one_in(2)) pool["spec"]["limits"] = {{"nvidia.com/gpu", std::to_string(8 * below(3))}};
    if (one_in(3)) {
      pool["spec"]["template"]["spec"]["taints"] = {{{"key", "team"}, {"value", "a"}, {"effect", "NoSchedule"}}};
    }
    one_in(4) ? cluster.pools.remove(name) : cluster.pools.put(pool);
  }

  void change_replicas() {
    for (auto* workloads : {&cluster.deployments, &cluster.stateful_sets, &cluster.leader_worker_sets}) {
      if (workloads->all().empty() || one_in(2)) continue;
      Object workload = workloads->all().begin()->second;
      workload["spec"]["replicas"] = below(5);
      if (one_in(2) && workloads != &cluster.leader_worker_sets) {
        workload["spec"]["template"] = testing::deployment("x", 2, static_cast<int>(below(3)))["spec"]["template"];
        choose_place(workload["spec"]["template"]);
      }
      workload["status"] = {{"replicas", below(5)}, {"readyReplicas", below(5)}};
      workloads->put(workload);
    }
  }

  /// Changes statuses on which no row depends.
  void change_statuses() {
    if (!cluster.scalers.all().empty()) {
      Object scaler = cluster.scalers.all().begin()->second;
      scaler["status"]["lastDecision"] = {{"id", std::to_string(below(100))}, {"recommended", below(9)}};
      cluster.scalers.put(scaler);
    }
    Object fleet = cluster.fleet.all().begin()->second;
    fleet["status"]["conditions"] = {{{"type", "Ready"}, {"status", one_in(2) ? "True" : "False"}}};
    cluster.fleet.put(fleet);
    if (!cluster.nodes.all().empty()) cluster.nodes.put(Object(cluster.nodes.all().begin()->second));
  }

  RandomStream random_;
  int scalers_ = 0;  ///< scalers with a creation time
};

void expect_same_pass(const SnapshotBuilder& builder, const SnapshotBuilder::Output& seen,
                      const SnapshotBuilder& reference, const SnapshotBuilder::Output& expected) {
  ASSERT_EQ(saved_text(builder, seen), saved_text(reference, expected));
  ASSERT_EQ(model::state_hash(seen.snapshot), model::state_hash(expected.snapshot));
  EXPECT_EQ(seen.delta.services, expected.delta.services);
  EXPECT_EQ(seen.delta.nodes, expected.delta.nodes);
  EXPECT_EQ(seen.delta.claims, expected.delta.claims);
  EXPECT_EQ(seen.delta.gangs, expected.delta.gangs);
  EXPECT_EQ(seen.delta.pods, expected.delta.pods);
  EXPECT_EQ(seen.delta.signals, expected.delta.signals);
  EXPECT_EQ(seen.delta.catalog, expected.delta.catalog);
  EXPECT_EQ(seen.delta.to_version, expected.delta.to_version);
  EXPECT_FALSE(model::changes_between(*seen.snapshot.catalog, *expected.snapshot.catalog).any());
  EXPECT_EQ(builder.services(), reference.services());
  ASSERT_EQ(seen.serving->size(), expected.serving->size());
  for (std::size_t i = 0; i < seen.serving->size(); ++i) {
    EXPECT_EQ(seen.serving->at(i).service, expected.serving->at(i).service);
    EXPECT_EQ(seen.serving->at(i).pod, expected.serving->at(i).pod);
  }
  const auto fault = model::find_inconsistency(seen.snapshot);
  EXPECT_FALSE(fault) << fault->table << " " << fault->id << " " << fault->field << ": " << fault->message;
}

TEST(SnapshotFollow, RandomEventsGiveTheSameRowsAsReadingAllObjects) {
  constexpr int kSeeds = 80;
  constexpr int kPasses = 24;
  std::uint64_t complete_passes = 0;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    RandomCluster random(seed);
    SnapshotBuilder builder;
    SnapshotBuilder reference;
    Readings readings;
    for (int pass = 0; pass < kPasses; ++pass) {
      SCOPED_TRACE("seed " + std::to_string(seed) + ", pass " + std::to_string(pass));
      const Instant now = kFirstSecond + seconds(pass);
      for (std::uint64_t i = random.below(4); i > 0; --i) random.change(now);
      if (random.one_in(3)) readings = random.readings();
      reference.forget_last_pass();
      const ClusterView view = random.cluster.view();
      const SnapshotBuilder::Output expected = reference.build(view, readings, now);
      const SnapshotBuilder::Output seen = builder.build(view, readings, now);
      expect_same_pass(builder, seen, reference, expected);
      if (HasFailure()) return;
    }
    complete_passes += builder.complete_passes();
  }
  EXPECT_LT(complete_passes, kSeeds * kPasses / 5) << "most passes follow the changes";
}

TEST(SnapshotFollow, PodsNodesGroupsAndWorkloadsAreFollowed) {
  Cluster cluster;
  cluster.nodes.put(testing::node("n1"));
  cluster.scalers.put(testing::scaler("chat", "chat"));
  cluster.deployments.put(testing::deployment("chat", 2));
  cluster.pods.put(testing::pod("chat-a", "chat", "n1"));
  cluster.pods.put(testing::pod("chat-b", "chat", "n1", true));
  SnapshotBuilder builder;
  model::ReplicaSignals heard_signals;
  heard_signals.waiting = model::Signal::measured(7);
  const auto pass = [&](const Readings& readings = {}) {
    const SnapshotBuilder::Output seen = builder.build(cluster.view(), readings, kFirstSecond);
    return seen.snapshot.gangs.at({0});
  };
  EXPECT_EQ(pass().phase, model::Gang::Phase::starting);
  EXPECT_EQ(builder.complete_passes(), 1u);
  pass();
  cluster.pods.put(testing::pod("chat-a", "chat", "n1", true));
  EXPECT_EQ(pass().phase, model::Gang::Phase::ready);
  cluster.nodes.put(testing::node("n1"));
  const SnapshotBuilder::Output heard = builder.build(cluster.view(), {{"chat-a", heard_signals}}, kFirstSecond);
  EXPECT_EQ(heard.snapshot.signals_of({0}).waiting.value, 7);
  EXPECT_TRUE(heard.delta.gangs.empty()) << "a reading does not change the row of its gang";
  EXPECT_EQ(builder.complete_passes(), 1u) << "only status and readings have changed";
  cluster.pods.put(testing::pod("chat-b", "chat", "n1", true, 2));
  cluster.pods.put(testing::pod("chat-c", "chat"));
  cluster.pods.put(testing::pod("job", "other", "n1", true));
  EXPECT_EQ(pass().phase, model::Gang::Phase::ready);
  cluster.pods.remove("ns/chat-b");
  cluster.deployments.put(testing::deployment("chat", 5));
  const SnapshotBuilder::Output scaled = builder.build(cluster.view(), {}, kFirstSecond);
  EXPECT_EQ(scaled.snapshot.gangs.size(), 3u);
  EXPECT_EQ(scaled.snapshot.services.at({0}).desired_replicas, 5);
  Object scaler = testing::scaler("chat", "chat");
  scaler["status"]["lastDecision"] = {{"id", "7"}};
  cluster.scalers.put(scaler);
  pass();
  cluster.nodes.put(testing::node("n1", 4));
  EXPECT_EQ(builder.build(cluster.view(), {}, kFirstSecond).snapshot.nodes.at({0}).gpus, whole_gpus(4));
  cluster.nodes.put(testing::node("n2"));
  EXPECT_EQ(builder.build(cluster.view(), {}, kFirstSecond).snapshot.nodes.size(), 2u);
  cluster.kai_groups.put({{"metadata", testing::meta("group")}, {"spec", {{"minMember", 2}}}});
  pass();
  cluster.deployments.put(testing::deployment("chat", 5, 2));
  EXPECT_EQ(builder.build(cluster.view(), {}, kFirstSecond).snapshot.catalog->services.at(0).workload.gpus_per_replica,
            2);
  EXPECT_EQ(builder.complete_passes(), 1u)
      << "only pods, nodes, PodGroups, replicas, templates and statuses have changed";
}

TEST(SnapshotFollow, ScalersWorkloadsQueuesAndDevicesAreFollowedToo) {
  Cluster cluster;
  cluster.nodes.put(testing::node("n1"));
  cluster.scalers.put(testing::scaler("chat", "chat"));
  cluster.deployments.put(testing::deployment("chat", 2));
  cluster.pods.put(testing::pod("chat-a", "chat", "n1"));
  cluster.pods.put(testing::pod("chat-b", "other", "n1"));
  cluster.resource_claims.put({{"metadata", testing::meta("first")}});
  SnapshotBuilder builder;
  const auto gangs_of_services = [&] {
    std::vector<std::string> gangs;
    const SnapshotBuilder::Output seen = builder.build(cluster.view(), {}, kFirstSecond);
    seen.snapshot.gangs.for_each([&](model::GangId id, const model::Gang& gang) {
      if (gang.service.valid())
        gangs.push_back(builder.gang(id)->name + " " + builder.services().at(gang.service).scaler);
    });
    return gangs;
  };
  using Gangs = std::vector<std::string>;
  EXPECT_EQ(gangs_of_services(), (Gangs{"chat-a chat"}));
  Object workload = testing::deployment("chat", 2);
  workload["spec"]["selector"]["matchLabels"] = {{"app", "other"}};
  cluster.deployments.put(workload);
  EXPECT_EQ(gangs_of_services(), (Gangs{"chat-b chat"})) << "the workload selects other pods";
  Object scaler = testing::scaler("new", "new");
  scaler["metadata"]["creationTimestamp"] = api_time(kFirstSecond);
  cluster.scalers.put(scaler);
  workload = testing::deployment("new", 1);
  workload["spec"]["selector"]["matchLabels"] = {{"app", "chat"}};
  cluster.deployments.put(workload);
  EXPECT_EQ(gangs_of_services(), (Gangs{"chat-a new", "chat-b chat"})) << "a new scaler";
  scaler["spec"]["mode"] = "Off";
  cluster.scalers.put(scaler);
  EXPECT_EQ(gangs_of_services(), (Gangs{"chat-b chat"})) << "nothing is decided about it";
  cluster.scalers.remove("ns/chat");
  cluster.deployments.remove("ns/chat");
  cluster.autoscalers.put(
      {{"metadata", testing::meta("hpa")}, {"spec", {{"scaleTargetRef", {{"kind", "Deployment"}, {"name", "new"}}}}}});
  EXPECT_EQ(gangs_of_services(), Gangs{});

  Object unknown_queue = testing::pod("chat-a", "chat", "n1");
  unknown_queue["metadata"]["labels"]["capstan.dev/queue"] = "team";
  cluster.pods.put(unknown_queue);
  const auto queue = [&] { return builder.build(cluster.view(), {}, kFirstSecond).snapshot.catalog->queues.at(0); };
  EXPECT_EQ(queue().fault, model::QueueFault::not_found);
  cluster.queues.put({{"metadata", {{"name", "team"}, {"uid", "team"}}}, {"spec", {{"gpus", {{"limit", 4}}}}}});
  EXPECT_EQ(queue().gpus.limit, whole_gpus(4));
  cluster.resource_slices.put({{"metadata", testing::meta("slice")},
                               {"spec",
                                {{"driver", "gpu.nvidia.com"},
                                 {"nodeName", "n1"},
                                 {"pool", {{"name", "n1"}, {"generation", 1}}},
                                 {"devices", {{{"name", "gpu-0"}}}}}}});
  cluster.resource_claims.put(
      {{"metadata", testing::meta("first")},
       {"status",
        {{"reservedFor", {{{"resource", "pods"}, {"name", "chat-b"}, {"uid", "chat-b"}}}},
         {"allocation",
          {{"devices", {{"results", {{{"driver", "gpu.nvidia.com"}, {"pool", "n1"}, {"device", "gpu-0"}}}}}}}}}}});
  const SnapshotBuilder::Output claimed = builder.build(cluster.view(), {}, kFirstSecond);
  claimed.snapshot.pods.for_each([&](model::PodId id, const model::Pod& pod) {
    EXPECT_EQ(pod.gpus, whole_gpus(builder.pod(id)->name == "chat-b" ? 2 : 1)) << "its request, and its claim";
  });
  EXPECT_EQ(builder.complete_passes(), 1u);
  cluster.fleet.put({{"metadata", {{"name", "default"}}}, {"spec", {{"layers", {{"nodes", "Shadow"}}}}}});
  builder.build(cluster.view(), {}, kFirstSecond);
  EXPECT_EQ(builder.complete_passes(), 2u) << "another FleetPolicy can change every row";
}

}  // namespace
}  // namespace capstan::op
