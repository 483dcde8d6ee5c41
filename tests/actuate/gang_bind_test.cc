// Binds gangs as transactions: all pods or none, also after a change of the leader.
#include "actuate/gang_bind.h"

#include <gtest/gtest.h>

#include "actuate/bench.h"
#include "kube/pod_view.h"

namespace capstan::actuate::testing {
namespace {

using namespace std::chrono_literals;
using Write = FakeServer::Write;

struct GangBindTest : ::testing::Test {
  Bench bench{23};

  void SetUp() override {
    for (const char* name : {"a", "b", "c"}) bench.add_pod(name);
  }
  /// @param meanwhile  called after the pods were read
  void submit(std::uint32_t token, const std::function<void(Bench&)>& meanwhile = [](Bench&) {}) {
    std::vector<Binding> bindings;
    for (const char* name : {"a", "b", "c"}) {
      bindings.push_back({bench.ref(kube::resources::kPods, name), bench.pod(name)["metadata"]["resourceVersion"],
                          std::string("node-") + name});
    }
    meanwhile(bench);
    bench.submit("gang", token, std::make_unique<GangBind>("t" + std::to_string(token), std::move(bindings)));
  }
  /// Returns the unfinished transactions that a new process finds.
  std::vector<UnfinishedBind> found() {
    kube::JsonDocument document;
    std::vector<kube::Pod> pods;
    for (const auto& [key, object] : bench.server.objects(kPods)) {
      pods.push_back(kube::read_pod(document.parse(object.dump()).value()));
    }
    std::vector<const kube::Pod*> all;
    for (const kube::Pod& pod : pods) all.push_back(&pod);
    return unfinished_binds(all);
  }
  /// Returns for example "a node-a annotated, b -, c gone": the pods, their nodes, and which have a bind intent.
  std::string state() {
    std::string text;
    for (const char* name : {"a", "b", "c"}) {
      const json pod = bench.pod(name);
      text += (text.empty() ? "" : ", ") + std::string(name);
      if (pod.is_null()) {
        text += " gone";
        continue;
      }
      text += " " + pod.value("/spec/nodeName"_json_pointer, std::string("-"));
      if (pod.contains("/metadata/annotations/capstan.dev~1bind"_json_pointer)) text += " annotated";
    }
    return text;
  }
};

const std::string kAllBound = "a node-a annotated, b node-b annotated, c node-c annotated";

TEST_F(GangBindTest, AnnotatesAllPodsAndThenBindsThem) {
  submit(1);
  bench.run(1s);
  EXPECT_EQ(bench.outcome(1), "applied");
  EXPECT_EQ(state(), kAllBound);
  EXPECT_EQ(bench.writes(), (std::vector<std::string>{"PATCH pods/a 200", "PATCH pods/b 200", "PATCH pods/c 200",
                                                      "POST pods/a/binding 201", "POST pods/b/binding 201",
                                                      "POST pods/c/binding 201"}));
  EXPECT_TRUE(found().empty());
}

TEST_F(GangBindTest, BindsAllPodsOrNone) {
  struct Row {
    const char* what;
    std::function<void(Bench&)> meanwhile;
    std::function<int(const Write&)> refuse;
    std::string outcome;
    std::string after;
  };
  int times = 0;
  const auto nothing = [](Bench&) {};
  const auto never = [](const Write&) { return 0; };
  const auto on = [&](const std::string& subresource, const std::string& key, int n, int code) {
    return [&times, subresource, key, n, code](const Write& write) {
      const bool matches = write.method != "DELETE" && write.subresource == subresource && write.key == key;
      return matches && times++ < n ? code : 0;
    };
  };
  const Row rows[] = {
      {"the second pod changed in the meantime", nothing, on("", "ml/b", 1, 409), "applied", kAllBound},
      {"another scheduler binds the second pod, which stays bound",
       [](Bench& b) { b.add_pod("b", {{"spec", {{"nodeName", "x"}}}}); }, never, "refused gang_taken_back 0 3",
       "a -, b x, c -"},
      {"the first pod cannot be annotated", nothing, on("", "ml/a", 9, 403), "refused gang_taken_back 0 3",
       "a -, b -, c -"},
      {"the third pod cannot be annotated", nothing, on("", "ml/c", 9, 403), "refused gang_taken_back 0 3",
       "a -, b -, c -"},
      {"the third pod does not fit its node", nothing, on("binding", "ml/c", 9, 422), "refused gang_taken_back 2 3",
       "a gone, b gone, c -"},
      {"after an error the pod is read back", nothing, on("binding", "ml/b", 1, 500), "applied", kAllBound},
      {"after a conflict the pod is read back", nothing, on("binding", "ml/b", 1, 409), "applied", kAllBound},
      {"the server is busy", nothing, on("binding", "ml/b", 1, 429), "applied", kAllBound},
  };
  std::uint32_t token = 0;
  for (const Row& row : rows) {
    for (const char* name : {"a", "b", "c"}) {
      bench.server.remove(kPods, std::string("ml/") + name);
      bench.add_pod(name);
    }
    times = 0;
    bench.refuse = row.refuse;
    submit(++token, row.meanwhile);
    bench.run(30s);
    EXPECT_EQ(bench.outcome(token), row.outcome) << row.what;
    EXPECT_EQ(state(), row.after) << row.what;
    EXPECT_TRUE(found().empty()) << row.what;
  }
}

TEST_F(GangBindTest, RollsBackAfterTheGracePeriod) {
  submit(1);
  bench.refuse = [](const Write& write) { return write.key == "ml/c" && write.subresource == "binding" ? 500 : 0; };
  bench.run(100s);
  EXPECT_EQ(state(), "a gone, b gone, c -");
  EXPECT_EQ(bench.runner->size(), 0u);
  EXPECT_NE(bench.outcome(1), "applied");
}

TEST_F(GangBindTest, ANewLeaderFinishesTheTransaction) {
  // The leader loses its permit at its n-th write, for each n. This write is still done; with 0, none is.
  for (int n = 0; n <= 6; ++n) {
    for (const char* name : {"a", "b", "c"}) {
      bench.server.remove(kPods, std::string("ml/") + name);
      bench.add_pod(name);
    }
    bench.permit = Permit::all;
    int writes = 0;
    bench.refuse = [&](const Write&) {
      if (++writes == n) bench.permit = Permit::none;
      return 0;
    };
    if (n == 0) bench.permit = Permit::none;
    submit(static_cast<std::uint32_t>(n));
    bench.run(5s);
    bench.restart();
    bench.permit = Permit::all;
    bench.refuse = [](const Write&) { return 0; };
    for (UnfinishedBind& bind : found()) {
      bench.submit("gang", 100, std::make_unique<GangBind>(std::move(bind)));
    }
    bench.run(5s);
    EXPECT_EQ(state(), n < 3 ? "a -, b -, c -" : kAllBound) << n;
    EXPECT_TRUE(found().empty()) << n;
  }
}

TEST_F(GangBindTest, ANewLeaderRollsBackAnIncompleteTransaction) {
  bench.refuse = [&](const Write& write) {
    if (write.key == "ml/b" && write.subresource == "binding") bench.permit = Permit::none;
    return 0;
  };
  submit(1);
  bench.run(2s);
  EXPECT_EQ(state(), "a node-a annotated, b node-b annotated, c - annotated");
  EXPECT_EQ(bench.outcome(1), "unknown lease_lost");
  bench.restart();
  bench.permit = Permit::all;
  bench.server.remove(kPods, "ml/a");  // the pod is lost
  bench.add_pod("a");                  // and its workload creates a new one
  for (UnfinishedBind& bind : found()) {
    EXPECT_FALSE(bind.complete);
    bench.submit("gang", 2, std::make_unique<GangBind>(std::move(bind)));
  }
  bench.run(2s);
  EXPECT_EQ(state(), "a -, b gone, c -");
}

TEST_F(GangBindTest, TheServerRefusesALateBindOfAnEarlierLeader) {
  submit(1);
  // The binding of c arrives late: the leader is gone, and the new leader has rolled the gang back.
  std::optional<Write> late;
  bench.refuse = [&](const Write& write) {
    if (write.key != "ml/c" || write.subresource != "binding" || late) return 0;
    late = write;
    bench.permit = Permit::none;
    return 503;
  };
  bench.run(2s);
  ASSERT_TRUE(late);
  bench.restart();
  bench.permit = Permit::all;
  std::vector<UnfinishedBind> binds = found();
  ASSERT_EQ(binds.size(), 1u);
  binds[0].complete = false;
  bench.submit("gang", 2, std::make_unique<GangBind>(std::move(binds[0])));
  bench.run(2s);
  EXPECT_EQ(state(), "a gone, b gone, c -");
  const auto answer = bench.server.acts(*late);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->first, 409);
  EXPECT_EQ(state(), "a gone, b gone, c -");
}

TEST_F(GangBindTest, FinishesABegunTransactionWhenHalted) {
  bench.refuse = [&](const Write&) {
    bench.permit = Permit::finish;  // the kill switch is set at the first write
    return 0;
  };
  submit(1);
  bench.run(2s);
  EXPECT_EQ(bench.outcome(1), "applied");
  EXPECT_EQ(state(), kAllBound);
  for (const char* name : {"a", "b", "c"}) {
    bench.server.remove(kPods, std::string("ml/") + name);
    bench.add_pod(name);
  }
  submit(2);
  bench.run(2s);
  EXPECT_EQ(bench.outcome(2), "refused halted");
  EXPECT_EQ(state(), "a -, b -, c -");
}

}  // namespace
}  // namespace capstan::actuate::testing
