// Scales up and down through /scale, with a drain before a scale-down.
#include "actuate/scale_to.h"

#include <gtest/gtest.h>

#include "actuate/bench.h"

namespace capstan::actuate::testing {
namespace {

using namespace std::chrono_literals;
using Write = FakeServer::Write;

struct ScaleToTest : ::testing::Test {
  Bench bench{11};
  std::shared_ptr<ScaleGoal> goal = std::make_shared<ScaleGoal>();

  void SetUp() override {
    bench.server.put(kDeployments, "ml", "vllm", {{"kind", "Deployment"}, {"spec", {{"replicas", 3}}}});
    for (const char* name : {"a", "b", "c"}) bench.add_pod(name, {{"metadata", {{"labels", {{"serve", "yes"}}}}}});
    goal->target = bench.ref(kube::resources::kDeployments, "vllm");
    goal->requested_before = 3;
    goal->means = {DrainMeans::Kind::readiness_gate, {}};
    goal->can_mark = true;
  }
  void want(ReplicaCount replicas, const std::vector<std::string>& victims = {}) {
    goal->desired = replicas;
    goal->victims.clear();
    for (const std::string& name : victims) goal->victims.push_back(pod(name));
    goal->revision += 1;
  }
  Ref pod(const std::string& name) { return bench.ref(kube::resources::kPods, name); }
  void submit(std::uint32_t token) {
    bench.submit("scale", token, std::make_unique<ScaleTo>(goal, [] { return kube::WallTime{1'000'000}; }));
  }
  /// Adds a current reading of a pod's requests.
  void load(const std::string& name, RequestCount requests, bool usable = true) {
    goal->loads[pod(name).uid] = {usable, requests, bench.server.now()};
  }
  std::int64_t replicas() { return bench.object(kDeployments, "vllm")["spec"]["replicas"]; }
  std::string gate(const std::string& name) {
    for (const json& condition : bench.pod(name).value("/status/conditions"_json_pointer, json::array())) {
      if (condition["type"] == kServingGate) return condition["status"];
    }
    return "";
  }
  bool marked(const std::string& name) {
    const json::json_pointer cost("/metadata/annotations/controller.kubernetes.io~1pod-deletion-cost");
    return bench.pod(name).contains(cost);
  }
};

TEST_F(ScaleToTest, AScaleUpIsOneWrite) {
  want(5);
  submit(1);
  bench.run(1s);
  EXPECT_EQ(bench.outcome(1), "applied");
  EXPECT_EQ(replicas(), 5);
  EXPECT_EQ(bench.writes(), (std::vector<std::string>{"PATCH deployments/vllm/scale 200"}));
}

TEST_F(ScaleToTest, ScalesOrReportsWhyNot) {
  struct Row {
    const char* what;
    std::int64_t before;  // replicas when the effect starts
    std::function<int(const Write&)> refuse;
    std::string outcome;
    std::int64_t after;
  };
  int times = 0;
  const auto once = [&](int code) { return [&times, code](const Write&) { return times++ == 0 ? code : 0; }; };
  const auto later = [&](int code, int then) {
    return [&times, code, then](const Write&) { return times++ < 6 ? code : then; };
  };
  const auto always = [](int code) { return [code](const Write&) { return code; }; };
  const Row rows[] = {
      {"the target already has the desired replicas", 5, always(0), "applied", 5},
      {"another client changed the replicas", 4, always(0), "refused replicas_changed 4 3", 4},
      {"one conflict", 3, once(409), "applied", 5},
      {"a conflict every time", 3, always(409), "refused object_contended 8", 3},
      {"forbidden", 3, always(403), "refused api_refused 403", 3},
      {"busy once", 3, once(429), "applied", 5},
      {"after one error the target is read back and written again", 3, once(500), "applied", 5},
      {"an error every time", 3, always(503), "refused writes_lost 8", 3},
      {"conflicts, and no answer to the last two writes", 3, later(409, 503), "refused writes_lost 2", 3},
      {"no answer, and conflicts at the last two writes", 3, later(503, 409), "refused object_contended 8", 3},
      {"invalid", 3, always(422), "refused api_refused 422", 3},
  };
  std::uint32_t token = 0;
  for (const Row& row : rows) {
    times = 0;
    bench.server.put(kDeployments, "ml", "vllm", {{"spec", {{"replicas", row.before}}}});
    bench.refuse = row.refuse;
    want(5);
    submit(++token);
    bench.run(120s);
    EXPECT_EQ(bench.outcome(token), row.outcome) << row.what;
    EXPECT_EQ(replicas(), row.after) << row.what;
  }
}

TEST_F(ScaleToTest, RefusesAMissingTargetAndAnotherUid) {
  want(5);
  goal->target.uid = "another";
  submit(1);
  bench.run(1s);
  EXPECT_EQ(bench.outcome(1), "refused object_gone");
  bench.server.remove(kDeployments, "ml/vllm");
  submit(2);
  bench.run(1s);
  EXPECT_EQ(bench.outcome(2), "refused object_gone");
  EXPECT_TRUE(bench.writes().empty());
}

TEST_F(ScaleToTest, ReadsBackAfterALostAnswer) {
  want(5);
  submit(1);
  bench.run(1s, [&] {  // the reads are answered, the write is not
    bench.server.faults.answer_lost = bench.server.seen.size() == 2 ? 1'000'000 : 0;
  });
  EXPECT_EQ(bench.outcome(1), "applied");
  EXPECT_EQ(replicas(), 5);
  EXPECT_EQ(bench.writes().size(), 1u) << "the write took effect and is not repeated";
}

TEST_F(ScaleToTest, DoesNotScaleATargetWithAnotherOwner) {
  bench.server.put(kDeployments, "ml", "vllm",
                   {{"metadata",
                     {{"managedFields",
                       {{{"manager", "argocd-controller"},
                         {"time", "2026-01-01T00:00:00Z"},
                         {"fieldsV1", {{"f:spec", {{"f:replicas", json::object()}}}}}}}}}}});
  want(5);
  submit(1);
  bench.run(1s);
  EXPECT_EQ(bench.outcome(1), "refused replicas_owned");
  EXPECT_TRUE(bench.writes().empty());
}

TEST_F(ScaleToTest, DrainsBeforeAScaleDown) {
  want(2, {"b"});
  submit(1);
  bench.run(2s, [&] { load("b", 7); });
  EXPECT_EQ(gate("b"), "False");
  EXPECT_EQ(gate("a"), "");
  EXPECT_EQ(replicas(), 3);
  bench.run(60s, [&] { load("b", 2); });
  EXPECT_EQ(replicas(), 3) << "the pod still has requests";
  bench.run(2s, [&] { load("b", 0); });
  EXPECT_EQ(bench.outcome(1), "applied");
  EXPECT_EQ(replicas(), 2);
  EXPECT_EQ(bench.writes(), (std::vector<std::string>{"PATCH pods/b/status 200", "PATCH pods/b 200",
                                                      "PATCH deployments/vllm/scale 200"}));
  EXPECT_TRUE(marked("b"));
}

TEST_F(ScaleToTest, ReadingsFromBeforeTheDrainDoNotCount) {
  load("b", 0);
  want(2, {"b"});
  submit(1);
  bench.run(60s);
  EXPECT_EQ(replicas(), 3);
  bench.run(4s, [&] { load("b", 0); });
  EXPECT_EQ(replicas(), 2);
}

TEST_F(ScaleToTest, APodWithoutReadingsIsNotIdle) {
  want(2, {"b"});
  submit(1);
  bench.run(9min, [&] { load("b", 0, false); });
  EXPECT_EQ(replicas(), 3);
  EXPECT_EQ(gate("b"), "False");
  bench.run(2min, [&] { load("b", 0, false); });
  EXPECT_EQ(bench.outcome(1), "refused drain_silent 1 1 600");
  EXPECT_EQ(replicas(), 3);
  EXPECT_EQ(gate("b"), "True") << "the pod is put back";
}

TEST_F(ScaleToTest, ScalesDownAtTheDrainLimitDespiteRequests) {
  want(2, {"b"});
  submit(1);
  bench.run(11min, [&] { load("b", 1); });
  EXPECT_EQ(bench.outcome(1), "applied");
  EXPECT_EQ(replicas(), 2);
}

TEST_F(ScaleToTest, RefusesAScaleDownWithoutDrainMeans) {
  goal->means = {};
  want(2, {"b"});
  submit(1);
  bench.run(1s);
  EXPECT_EQ(bench.outcome(1), "refused drain_unsafe");
  EXPECT_TRUE(bench.writes().empty());
  want(5);
  submit(2);
  bench.run(1s);
  EXPECT_EQ(bench.outcome(2), "applied") << "a scale-up needs no drain";
}

TEST_F(ScaleToTest, DoesNotWaitForAnEngineThatDrainsItself) {
  goal->means = {DrainMeans::Kind::engine, {}};
  want(2, {"b"});
  submit(1);
  bench.run(1s);
  EXPECT_EQ(bench.outcome(1), "applied");
  EXPECT_EQ(gate("b"), "");
}

TEST_F(ScaleToTest, RemovesTheRouterLabelAndPutsItBack) {
  goal->means = {DrainMeans::Kind::router_label, "serve"};
  want(2, {"b"});
  submit(1);
  bench.run(1s);
  EXPECT_FALSE(bench.pod("b")["metadata"]["labels"].contains("serve"));
  want(4);
  bench.run(1s);
  EXPECT_EQ(bench.pod("b")["metadata"]["labels"]["serve"], "yes");
  EXPECT_EQ(bench.outcome(1), "applied");
  EXPECT_EQ(replicas(), 4);
}

TEST_F(ScaleToTest, DoesNotScaleDownIfTheVictimCannotBeMarked) {
  struct Row {
    DrainMeans means;
    std::string outcome;
    std::int64_t after;
  };
  const Row rows[] = {
      {{DrainMeans::Kind::router_label, "serve"}, "refused api_refused 403", 3},
      {{DrainMeans::Kind::readiness_gate, {}}, "applied", 2},
      {{DrainMeans::Kind::engine, {}}, "applied", 2},
  };
  std::uint32_t token = 0;
  for (const Row& row : rows) {
    SCOPED_TRACE(static_cast<int>(row.means.kind));
    bench.server.put(kDeployments, "ml", "vllm", {{"kind", "Deployment"}, {"spec", {{"replicas", 3}}}});
    goal->means = row.means;
    bench.refuse = [](const Write& write) {
      return write.body.dump().find("pod-deletion-cost") == std::string::npos ? 0 : 403;
    };
    want(2, {"b"});
    submit(++token);
    bench.run(30s, [&] { load("b", 0); });
    EXPECT_EQ(bench.outcome(token), row.outcome);
    EXPECT_EQ(replicas(), row.after);
    EXPECT_EQ(bench.pod("b")["metadata"]["labels"]["serve"], "yes") << "a refused scale-down puts the victim back";
  }
}

TEST_F(ScaleToTest, ACancelledDrainPutsPodsBack) {
  want(1, {"b", "c"});
  submit(1);
  bench.run(2s, [&] { load("b", 3), load("c", 3); });
  EXPECT_EQ(gate("b") + gate("c"), "FalseFalse");
  want(2, {"c"});  // demand rises again
  EXPECT_TRUE(bench.runner->take_over("scale", model::ActionToken{2}));
  bench.run(2s, [&] { load("b", 3), load("c", 3); });
  EXPECT_EQ(gate("b") + gate("c"), "TrueFalse");
  want(3);  // demand is as before
  EXPECT_TRUE(bench.runner->take_over("scale", model::ActionToken{3}));
  bench.run(2s, [&] { load("b", 3), load("c", 3); });
  EXPECT_EQ(gate("b") + gate("c"), "TrueTrue");
  EXPECT_EQ(bench.outcome(1) + ", " + bench.outcome(2) + ", " + bench.outcome(3),
            "refused superseded, refused superseded, applied");
  EXPECT_EQ(replicas(), 3);
}

TEST_F(ScaleToTest, ContinuesOrEndsTheDrainsOfAnEarlierEffect) {
  for (const char* name : {"a", "b"}) {
    bench.add_pod(name, {{"status", {{"conditions", {{{"type", kServingGate}, {"status", "False"}}}}}}});
    goal->drained.push_back({pod(name), bench.server.now()});
  }
  want(2, {"b"});
  submit(1);
  bench.run(10s, [&] { load("b", 0); });
  EXPECT_EQ(gate("a"), "True");
  EXPECT_EQ(gate("b"), "False");
  EXPECT_EQ(bench.outcome(1), "applied");
}

TEST_F(ScaleToTest, AVictimThatIsGoneCancelsTheScaleDown) {
  want(1, {"a", "b"});
  bench.server.remove(kPods, "ml/b");
  submit(1);
  bench.run(10s, [&] { load("a", 0); });
  EXPECT_EQ(bench.outcome(1), "refused replicas_lost 1");
  EXPECT_EQ(gate("a"), "True") << "the other victim is put back";
  EXPECT_EQ(replicas(), 3);
}

TEST_F(ScaleToTest, PutsVictimsBackIfTheScaleIsRefused) {
  want(2, {"b"});
  bench.refuse = [](const Write& write) { return write.subresource == "scale" ? 403 : 0; };
  submit(1);
  bench.run(20s, [&] { load("b", 0); });
  EXPECT_EQ(bench.outcome(1), "refused api_refused 403");
  EXPECT_EQ(gate("b"), "True");
  EXPECT_FALSE(marked("b"));
}

TEST_F(ScaleToTest, StopsForTheKillSwitchAndALostLease) {
  bench.permit = Permit::finish;
  want(5);
  submit(1);
  bench.run(2s);
  EXPECT_EQ(bench.outcome(1), "refused halted");
  bench.permit = Permit::all;
  want(2, {"b"});
  submit(2);
  bench.run(2s, [&] { load("b", 3); });
  bench.permit = Permit::none;
  bench.run(2s);
  EXPECT_EQ(bench.outcome(2), "refused lease_lost");
  EXPECT_EQ(bench.writes().size(), 1u) << "only the gate was written, before the lease was lost";
  EXPECT_EQ(bench.runner->size(), 0u);
}

TEST_F(ScaleToTest, DropsAQueuedWriteWhenThePermitEnds) {
  bench.refuse = [](const Write&) { return 429; };
  want(5);
  submit(1);
  bench.run(500ms);
  EXPECT_EQ(bench.writes().size(), 1u);
  bench.permit = Permit::none;
  bench.refuse = [](const Write&) { return 0; };
  bench.run(5s);
  EXPECT_EQ(bench.outcome(1), "refused lease_lost");
  EXPECT_EQ(bench.writes().size(), 1u);
  EXPECT_EQ(replicas(), 3);
}

}  // namespace
}  // namespace capstan::actuate::testing
