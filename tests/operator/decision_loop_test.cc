// Checks that a checkpoint gives the same decisions in another process, and that a snapshot file does so too.
#include "operator/loop/decision_loop.h"

#include <gtest/gtest.h>

#include "archive/redecide.h"
#include "archive/saved_state.h"
#include "cluster_server.h"

namespace capstan::op {
namespace {

using namespace std::chrono_literals;
using testing::ClusterClient;
using testing::ClusterServer;
using testing::Object;

struct LoopRunner {
  LoopRunner(ClusterServer& cluster, std::uint64_t seed)
      : server(cluster),
        cluster_client(cluster, seed),
        loop(cluster, cluster_client.client, cluster.clock(), RandomStream(seed, "loop"), nullptr) {}

  void run_once() {
    loop.run_once();
    cluster_client.client.run_once();
  }

  ClusterServer& server;
  ClusterClient cluster_client;
  DecisionLoop loop;
};

void listen(ClusterServer& server, const std::vector<LoopRunner*>& loops, Duration duration) {
  for (Duration passed{}; passed < duration; passed += 100ms) {
    server.api.advance(100ms, [&] {
      server.answer();
      for (LoopRunner* runner : loops) runner->run_once();
    });
  }
}

/// A cluster with two scalers, `chat` and `code`. The load of `chat` falls in warm_up().
struct Scene {
  Scene() {
    testing::put_workload(server, "chat", 3, 40);
    testing::put_scaler(server, "chat", "chat");
    server.api.put(testing::kDeploymentsPath, "ns", "code", testing::deployment("code", 2));
    testing::put_scaler(server, "code", "code");
  }
  /// Lets the first loop make a few decisions.
  void warm_up() {
    listen(server, {&one, &two}, 15s);
    ASSERT_TRUE(one.loop.ready()) << one.loop.waiting_for().front();
    one.loop.begin({});
    for (int i = 0; i < 6; ++i) {
      one.loop.decide();
      for (int pod = 1; pod <= 3; ++pod) server.pages[testing::url_of_pod(pod)] = testing::page(30 - 6 * i);
      listen(server, {&one, &two}, 5s);
    }
  }
  ClusterServer server;
  LoopRunner one{server, 1}, two{server, 2};
};

TEST(DecisionLoop, SuccessorDecidesTheSameBytes) {
  Scene scene;
  scene.warm_up();
  ASSERT_FALSE(::testing::Test::HasFatalFailure());
  std::size_t left_out = 0;
  Checkpoint carried;  // checkpoint, written to ConfigMaps and read back
  kube::JsonDocument document;
  for (const std::string& body : to_config_maps(scene.one.loop.checkpoint(), left_out)) {
    read_config_map(document.parse(body).value(), carried);
  }
  EXPECT_EQ(carried.rows.size(), 2u);
  scene.two.loop.begin(carried);
  scene.one.loop.decide();
  scene.two.loop.decide();
  ASSERT_EQ(scene.one.loop.controller().memory().scale, scene.two.loop.controller().memory().scale);
  EXPECT_TRUE((scene.one.loop.checkpoint() == scene.two.loop.checkpoint())) << "including the ledgers";
  for (std::uint32_t i = 0; i < 2; ++i) {
    const decide::scale::Decision& a = scene.one.loop.controller().scale_decision({i});
    const decide::scale::Decision& b = scene.two.loop.controller().scale_decision({i});
    EXPECT_EQ(a.desired, b.desired);
    EXPECT_EQ(a.why, b.why);
  }
  EXPECT_GT(scene.two.loop.controller().memory().scale.at(0).recommendations.size(), 3u)
      << "the checkpoint was not restored";
}

TEST(DecisionLoop, SnapshotFileGivesTheSamePlanByteForByte) {
  Scene scene;
  scene.warm_up();
  ASSERT_FALSE(::testing::Test::HasFatalFailure());
  for (int pod = 1; pod <= 3; ++pod) scene.server.pages[testing::url_of_pod(pod)] = testing::page(80);
  listen(scene.server, {&scene.one, &scene.two}, 10s);
  std::string file;
  scene.two.loop.begin(scene.one.loop.checkpoint(), [&](const model::Snapshot& snapshot, const control::Memory& memory,
                                                        const control::DueDecisions&) {
    const KubeWorld& world = scene.two.loop.world();
    file = archive::to_json({snapshot, world.objects().names(), world.policies(), memory});
  });
  scene.two.loop.decide();
  const Result<archive::SavedState> state = archive::parse(file, "incident.json");
  ASSERT_TRUE(state) << state.error().text();
  const archive::RepeatedDecisions again = archive::redecide(*state);
  model::Plan recorded, submitted;
  for (const decide::scale::Decision& decision : again.scale) {
    recorded.actions.insert(recorded.actions.end(), decision.plan.actions.begin(), decision.plan.actions.end());
  }
  for (const control::LoggedAction& logged : scene.two.loop.controller().log().entries()) {
    submitted.actions.push_back(logged.action);
  }
  ASSERT_FALSE(submitted.actions.empty());
  EXPECT_EQ(plan_hash(recorded), plan_hash(submitted));
  EXPECT_EQ(archive::to_json(*state), file);
}

TEST(DecisionLoop, QueriesAPrometheusServerForSignals) {
  ClusterServer server;
  testing::put_workload(server, "chat", 1, 0);
  testing::put_scaler(server, "chat", "chat", [](Object& scaler) {
    scaler["spec"]["signals"] = {{"interval", "5s"},
                                 {"prometheus", {{"url", "http://prometheus:9090"}, {"selector", "job=\"chat\""}}}};
  });
  server.pages.clear();
  LoopRunner one(server, 1);
  const auto answer = [&] {
    const std::int64_t unix_s = server.now().since_start / 1s;
    const Object series = {
        {"metric", {{"__name__", "vllm:num_requests_waiting"}, {"pod", "chat-1"}, {"model_name", "llama"}}},
        {"values", {{unix_s, "33"}}}};
    server.pages["http://prometheus:9090/api/v1/query"] =
        Object{{"status", "success"}, {"data", {{"resultType", "matrix"}, {"result", {series}}}}}.dump();
  };
  answer();
  listen(server, {&one}, 10s);
  answer();
  listen(server, {&one}, 6s);
  ASSERT_TRUE(one.loop.ready()) << one.loop.waiting_for().front();
  one.loop.begin({});
  one.loop.decide();
  const std::vector<ScalerReport> reports = one.loop.reports();
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_EQ(reports[0].fresh, 1) << one.loop.sources().troubles().begin()->second;
  EXPECT_EQ(reports[0].targets.at(0).recommended, 4);
}

TEST(DecisionLoop, StatesWhichCollectionsItCouldNotReadAndWhy) {
  struct Row {
    kube::fake::Faults faults;
    std::vector<int> codes;
  };
  const Row rows[] = {{{.unreachable = 1'000'000}, {0}}, {{.server_error = 1'000'000}, {500, 502, 503}}};
  for (const Row& row : rows) {
    ClusterServer server;
    server.api.faults = row.faults;
    LoopRunner one(server, 1);
    listen(server, {&one}, 5s);
    const std::vector<ClusterWatch::UnreadCollection> unread = one.loop.watch().unread();
    const auto pods = std::ranges::find(unread, "pods", &ClusterWatch::UnreadCollection::name);
    ASSERT_NE(pods, unread.end());
    ASSERT_TRUE(pods->error.has_value());
    EXPECT_TRUE(std::ranges::find(row.codes, pods->error->code) != row.codes.end()) << pods->error->text();
  }
}

TEST(DecisionLoop, NamesAMistakeInTheSignals) {
  struct Row {
    Object signals;
    const char* engine;
    const char* message;
  };
  const Row rows[] = {
      {{{"prometheus", {{"url", "http://p:9090"}, {"selector", "job=chat"}}}},
       "vllm",
       "InferenceScaler ns/chat spec.signals.prometheus.selector: 1:5: found 'c', expected a value in double quotes"},
      {{{"interval", "5s"}}, "custom", "InferenceScaler ns/chat spec.signals.custom"},
  };
  for (const Row& row : rows) {
    ClusterServer server;
    testing::put_workload(server, "chat", 1, 0);
    testing::put_scaler(server, "chat", "chat", [&](Object& scaler) {
      scaler["spec"]["signals"] = row.signals;
      scaler["spec"]["engine"] = row.engine;
    });
    LoopRunner one(server, 1);
    listen(server, {&one}, 30s);
    one.loop.begin({});
    one.loop.decide();
    const StatusCondition fresh = one.loop.reports().at(0).verdicts.at(2);
    EXPECT_EQ(fresh.type, "SignalsFresh");
    EXPECT_EQ(fresh.status, ConditionStatus::no);
    EXPECT_TRUE(fresh.message.starts_with(row.message)) << fresh.message;
  }
}

TEST(DecisionLoop, ReadsACustomEngineByItsMapping) {
  ClusterServer server;
  testing::put_workload(server, "chat", 1, 0);
  testing::put_scaler(server, "chat", "chat", [](Object& scaler) {
    scaler["spec"]["engine"] = "custom";
    scaler["spec"]["signals"] = {{"interval", "5s"}, {"custom", {{"waiting", "my_queue"}}}};
  });
  server.pages[testing::url_of_pod(1)] = "my_queue 12\n";
  LoopRunner one(server, 1);
  listen(server, {&one}, 15s);
  one.loop.begin({});
  one.loop.decide();
  EXPECT_EQ(one.loop.reports().at(0).targets.at(0).recommended, 3);
}

/// Two scalers of policy Capstan. The API server lists their pods in another order than they were created.
struct OwnScene {
  OwnScene() {
    for (const char* name : {"chat", "code"}) {
      testing::put_workload(server, name, 3, 0);
      testing::put_scaler(server, name, name, [](Object& scaler) {
        scaler["spec"].erase("policy");
        scaler["spec"]["slo"] = {{"ttft", "2s"}, {"tpot", "50ms"}};
        scaler["spec"]["roles"][0]["variants"][0]["gpu"] = "h100_sxm";
        scaler["spec"]["roles"][0]["variants"][0]["engineProfile"] = {{"model", "Llama-3.1-8B"}};
        scaler["spec"]["roles"][0]["variants"][0]["maxReplicas"] = 40;
      });
    }
    serve();
  }
  /// Raises the token counters of all pods, as if they had served requests. Every pod has different values.
  void serve() {
    for (int pod = 1; pod <= 3; ++pod) {
      prompt += 40'000 + 7'001 * pod;
      generated += 9'000 + 1'003 * pod;
      server.pages[testing::url_of_pod(pod)] = testing::page_of_work(30 + pod, prompt, generated);
    }
  }
  /// Lets the first loop make eight decisions. After the fourth one, adds a pod that sorts before the other ones.
  void warm_up() {
    listen(server, {&one, &two}, 15s);
    ASSERT_TRUE(one.loop.ready()) << one.loop.waiting_for().front();
    one.loop.begin({});
    for (int i = 0; i < 8; ++i) {
      one.loop.decide();
      serve();
      if (i == 3) add_pod();
      listen(server, {&one, &two}, 5s);
    }
  }
  void add_pod() {
    server.api.put(testing::kDeploymentsPath, "ns", "chat", testing::deployment("chat", 4));
    Object pod = testing::pod("chat-0", "chat", "n1", true);
    pod["status"]["podIP"] = "10.0.0.2";
    server.api.put(testing::kPodsPath, "ns", "chat-0", pod);
  }
  Checkpoint carried() {
    std::size_t left_out = 0;
    Checkpoint carried;
    kube::JsonDocument document;
    for (const std::string& body : to_config_maps(one.loop.checkpoint(), left_out)) {
      read_config_map(document.parse(body).value(), carried);
    }
    return carried;
  }
  std::int64_t prompt = 0, generated = 0;
  ClusterServer server;
  LoopRunner one{server, 1}, two{server, 2};
};

TEST(DecisionLoop, SuccessorOfPolicyCapstanDecidesTheSameBytesWithOtherPodIds) {
  OwnScene scene;
  scene.warm_up();
  ASSERT_FALSE(::testing::Test::HasFatalFailure());
  const Checkpoint carried = scene.carried();
  ASSERT_EQ(carried.rows.size(), 2u);
  scene.two.loop.begin(carried);
  scene.one.loop.decide();
  scene.two.loop.decide();
  const auto& remembered = scene.one.loop.controller().memory().scale.at(0).capstan;
  ASSERT_TRUE(remembered.has_value());
  EXPECT_EQ(remembered->counters.size(), 4u);
  EXPECT_GT(remembered->counters.front().generated_rate_milli, 0) << "the policy has learned a rate";
  EXPECT_TRUE((scene.one.loop.checkpoint() == scene.two.loop.checkpoint()));
  for (std::uint32_t i = 0; i < 2; ++i) {
    const decide::scale::Decision& a = scene.one.loop.controller().scale_decision({i});
    const decide::scale::Decision& b = scene.two.loop.controller().scale_decision({i});
    EXPECT_EQ(a.why, b.why);
    ASSERT_TRUE(a.sizing && b.sizing);
    EXPECT_EQ(a.sizing->needed_milli, b.sizing->needed_milli);
    EXPECT_GT(a.sizing->generated_tokens_per_s, 0);
    EXPECT_TRUE(a.sizing->modelled);
  }
}

TEST(DecisionLoop, LowerCountersAfterATakeoverAreNoBurst) {
  OwnScene scene;
  scene.warm_up();
  ASSERT_FALSE(::testing::Test::HasFatalFailure());
  Checkpoint carried = scene.carried();
  for (auto& [key, row] : carried.rows) {
    for (auto& counters : row.memory.capstan->counters) counters.generated_tokens += 50'000'000;
  }
  scene.two.loop.begin(carried);
  scene.one.loop.decide();
  scene.two.loop.decide();
  const auto& sizing = scene.two.loop.controller().scale_decision({0}).sizing;
  ASSERT_TRUE(sizing.has_value());
  EXPECT_LE(sizing->generated_tokens_per_s,
            scene.one.loop.controller().scale_decision({0}).sizing->generated_tokens_per_s);
}

TEST(DecisionLoop, SnapshotFileOfPolicyCapstanDecidesTheSame) {
  OwnScene scene;
  scene.warm_up();
  ASSERT_FALSE(::testing::Test::HasFatalFailure());
  std::string file;
  scene.two.loop.begin(scene.carried(), [&](const model::Snapshot& snapshot, const control::Memory& memory,
                                            const control::DueDecisions&) {
    const KubeWorld& world = scene.two.loop.world();
    file = archive::to_json({snapshot, world.objects().names(), world.policies(), memory});
  });
  scene.two.loop.decide();
  const Result<archive::SavedState> state = archive::parse(file, "incident.json");
  ASSERT_TRUE(state) << state.error().text();
  EXPECT_EQ(archive::to_json(*state), file);
  const archive::RepeatedDecisions again = archive::redecide(*state);
  ASSERT_EQ(again.scale.size(), 2u);
  for (std::uint32_t i = 0; i < 2; ++i) {
    const decide::scale::Decision& live = scene.two.loop.controller().scale_decision({i});
    EXPECT_EQ(again.scale[i].desired, live.desired);
    EXPECT_EQ(again.scale[i].why, live.why);
    EXPECT_EQ(again.scale[i].sizing->needed_milli, live.sizing->needed_milli);
  }
}

}  // namespace
}  // namespace capstan::op
