// Submits actions by id, as the loop does, and checks the objects on the server.
#include "actuate/action_dispatcher.h"

#include <gtest/gtest.h>

#include "actuate/bench.h"

namespace capstan::actuate::testing {
namespace {

using namespace std::chrono_literals;

/// Maps service 0 to the Deployment vllm, and pod n and gang n to the pod "pn".
struct TestReferences : References {
  explicit TestReferences(Bench& bench) : bench(bench) {}

  std::optional<Target> target(model::ServiceId service) const override {
    if (service.value != 0) return std::nullopt;
    Target target;
    target.ref = bench.ref(kube::resources::kDeployments, "vllm");
    target.kind = kind;
    target.means = {DrainMeans::Kind::readiness_gate, {}};
    for (std::uint32_t i = 0; i < 3; ++i) {
      const json pod = bench.pod("p" + std::to_string(i));
      if (pod.is_null()) continue;
      target.replicas.push_back({.gang = model::GangId{i},
                                 .name = "p" + std::to_string(i),
                                 .ordinal = i,
                                 .pod = bench.ref(kube::resources::kPods, "p" + std::to_string(i)),
                                 .ready = i != starting,
                                 .ever_served = i != starting,
                                 .out_of_router_since = std::nullopt});
    }
    return target;
  }
  std::optional<Ref> pod(model::PodId pod) const override {
    return pod.value < 3 ? std::optional(bench.ref(kube::resources::kPods, "p" + std::to_string(pod.value)))
                         : std::nullopt;
  }
  std::optional<Binding> binding(const model::BindPods::Binding& planned) const override {
    const std::optional<Ref> found = pod(planned.pod);
    if (!found) return std::nullopt;
    return Binding{*found, bench.pod(found->object.name)["metadata"]["resourceVersion"], "node"};
  }
  std::optional<ClaimGroup> nodes(const model::LaunchNodes&) const override {
    ClaimGroup group;
    group.pool.meta.name = "pool";
    return group;
  }
  std::vector<Ref> claims(model::ClaimGroupId) const override {
    std::vector<Ref> refs;
    for (const auto& [name, claim] : bench.server.objects(kNodeClaims)) {
      refs.push_back(bench.ref(kube::resources::kNodeClaims, name));
    }
    return refs;
  }
  std::optional<Ref> claim(model::NodeId) const override { return std::nullopt; }

  Bench& bench;
  std::string kind = "Deployment";
  std::uint32_t starting = 99;
};

struct EffectsTest : ::testing::Test {
  Bench bench{41};
  TestReferences references{bench};
  model::Snapshot snapshot;
  std::unique_ptr<ActionDispatcher> effects;
  std::map<std::string, ScaleGoal::Load> loads;
  RequestCount load = 5;  // requests of every pod

  void SetUp() override {
    bench.server.put(kDeployments, "ml", "vllm", {{"kind", "Deployment"}, {"spec", {{"replicas", 3}}}});
    for (const char* name : {"p0", "p1", "p2"}) bench.add_pod(name);
    snapshot.services.set(model::ServiceId{0}, {.desired_replicas = 3, .gateway_waiting = {}});
    effects = std::make_unique<ActionDispatcher>(
        *bench.runner, references, bench.server.clock(), [] { return kube::WallTime{1}; }, "capstan-0/1");
  }
  void submit(std::uint32_t token, decltype(model::Action::effect) what) {
    effects->submit(model::ActionToken{token}, {std::move(what), {}}, snapshot);
  }
  void scale(std::uint32_t token, ReplicaCount replicas, std::vector<model::GangId> drain = {}) {
    submit(token, model::SetReplicas{model::ServiceId{0}, replicas, std::move(drain)});
  }
  void run(Duration duration) {
    bench.run(duration, [&] {
      loads.clear();
      for (const auto& [key, pod] : bench.server.objects(kPods)) {
        loads[pod["metadata"]["uid"]] = {true, load, bench.server.now()};
      }
      effects->update_loads(loads);
      effects->update_routing(routed());
    });
  }
  std::vector<ActionDispatcher::RoutedPod> routed() {
    std::vector<ActionDispatcher::RoutedPod> pods;
    for (const auto& [key, pod] : bench.server.objects(kPods)) {
      const std::string status = gate(pod["metadata"]["name"]);
      pods.push_back({bench.ref(kube::resources::kPods, pod["metadata"]["name"]),
                      {DrainMeans::Kind::readiness_gate, {}},
                      status == "False",
                      !status.empty()});
    }
    return pods;
  }
  std::int64_t replicas() { return bench.object(kDeployments, "vllm")["spec"]["replicas"]; }
  std::string gate(const std::string& name) {
    for (const json& condition : bench.pod(name).value("/status/conditions"_json_pointer, json::array())) {
      if (condition["type"] == kServingGate) return condition["status"];
    }
    return "";
  }
  std::string gates() { return gate("p0") + " " + gate("p1") + " " + gate("p2"); }
};

TEST_F(EffectsTest, PutsNewPodsIntoTheRouter) {
  EXPECT_EQ(gates(), "  ");
  run(1s);
  EXPECT_EQ(gates(), "True True True");
}

TEST_F(EffectsTest, DrainsTheVictimAndThenScalesDown) {
  run(1s);
  scale(1, 2, {model::GangId{1}});
  run(30s);
  EXPECT_EQ(gates(), "True False True");
  EXPECT_EQ(replicas(), 3);
  load = 0;
  run(10s);
  EXPECT_EQ(bench.outcome(1), "applied");
  EXPECT_EQ(replicas(), 2);
  EXPECT_EQ(gates(), "True False True") << "the ReplicaSet may still remove the drained pod";
  run(90s);
  EXPECT_EQ(gates(), "True True True") << "the ReplicaSet removed another pod";
}

TEST_F(EffectsTest, ALostReplicaCancelsTheScaleDown) {
  run(1s);
  scale(1, 2, {model::GangId{1}});
  run(30s);
  EXPECT_EQ(gates(), "True False True");
  bench.server.remove(kPods, "ml/p2");
  run(10s);
  EXPECT_EQ(bench.outcome(1), "refused replicas_lost 1");
  EXPECT_EQ(gate("p1"), "True") << "the pod is put back because it is needed now";
  EXPECT_EQ(replicas(), 3);
}

TEST_F(EffectsTest, AStatefulSetDrainsItsHighestOrdinal) {
  references.kind = "StatefulSet";
  run(1s);
  scale(1, 2, {model::GangId{0}});
  run(2s);
  EXPECT_EQ(gates(), "True True False");
}

TEST_F(EffectsTest, AReplicaThatNeverServedNeedsNoDrain) {
  references.starting = 2;
  scale(1, 2, {model::GangId{0}});
  run(2s);
  EXPECT_EQ(bench.outcome(1), "applied");
  EXPECT_EQ(gates(), "True True False") << "the removed pod never got into the router";
}

TEST_F(EffectsTest, AReplicaThatEntersTheRouterIsDrained) {
  references.starting = 2;
  effects->update_routing(routed());
  scale(1, 2, {model::GangId{2}});
  run(30s);
  EXPECT_EQ(gates(), "True True False");
  EXPECT_EQ(replicas(), 3) << "the pod still has requests";
  load = 0;
  run(10s);
  EXPECT_EQ(replicas(), 2);
}

TEST_F(EffectsTest, NeverScalesAnUnknownKindDown) {
  references.kind = "PodCliqueScalingGroup";
  scale(1, 2);
  run(2s);
  EXPECT_EQ(bench.outcome(1), "refused drain_unsafe");
  scale(2, 4);
  run(2s);
  EXPECT_EQ(bench.outcome(2), "applied");
}

TEST_F(EffectsTest, ANewerDecisionReplacesAnOlderOne) {
  run(1s);
  scale(1, 1, {model::GangId{0}, model::GangId{1}});
  run(5s);
  EXPECT_EQ(gates(), "False False True");
  scale(2, 4);
  run(5s);
  EXPECT_EQ(gates(), "True True True");
  EXPECT_EQ(replicas(), 4);
  EXPECT_EQ(bench.outcome(1) + ", " + bench.outcome(2), "refused superseded, applied");
}

TEST_F(EffectsTest, PutsBackPodsThatAnEarlierLeaderTookOut) {
  bench.add_pod("p1", {{"status", {{"conditions", {{{"type", kServingGate}, {"status", "False"}}}}}}});
  run(30s);
  EXPECT_EQ(gates(), "True False True");
  run(40s);
  EXPECT_EQ(gates(), "True True True");
}

TEST_F(EffectsTest, BindsEvictsLaunchesAndReleases) {
  submit(1,
         model::BindPods{model::GangId{0}, {{model::PodId{0}, model::NodeId{0}}, {model::PodId{1}, model::NodeId{0}}}});
  submit(2, model::BindPods{model::GangId{0}, {{model::PodId{7}, model::NodeId{0}}}});
  submit(3, model::EvictPod{model::PodId{2}});
  submit(4, model::EvictPod{model::PodId{7}});
  submit(5, model::LaunchNodes{model::PoolId{0}, model::OfferingId{0}, {}, 2, 600s, model::GangId{0}});
  submit(6, model::TerminateNode{model::NodeId{0}});
  submit(7, model::SetReplicas{model::ServiceId{3}, 2, {}});
  bench.run(3s);
  EXPECT_EQ(bench.outcome(1), "applied");
  EXPECT_EQ(bench.pod("p0")["spec"]["nodeName"], "node");
  EXPECT_EQ(bench.outcome(2), "refused object_gone");
  EXPECT_EQ(bench.outcome(3), "applied");
  EXPECT_TRUE(bench.pod("p2").is_null());
  EXPECT_EQ(bench.outcome(4), "refused object_gone");
  EXPECT_EQ(bench.outcome(5), "applied");
  EXPECT_EQ(bench.server.objects(kNodeClaims).size(), 2u);
  EXPECT_EQ(bench.outcome(6), "refused node_without_claim");
  EXPECT_EQ(bench.outcome(7), "refused object_gone");
  submit(8, model::ReleaseGroup{model::ClaimGroupId{0}});
  bench.run(3s);
  EXPECT_EQ(bench.outcome(8), "applied");
  EXPECT_TRUE(bench.server.objects(kNodeClaims).empty());
}

}  // namespace
}  // namespace capstan::actuate::testing
