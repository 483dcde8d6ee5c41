// Tests of a whole `capstan run`, with an API server and pods in memory and in simulated time.
#include "operator/loop/process.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "cluster_server.h"
#include "operator/loop/endpoints.h"

namespace capstan::op {
namespace {

using namespace std::chrono_literals;
using testing::ClusterServer;
using testing::Object;
using testing::pass;
using testing::Running;

Object status_of(ClusterServer& server, const std::string& name = "chat") {
  return server.api.objects(testing::kScalersPath).at("ns/" + name).value("status", Object::object());
}

/// Returns a field of a condition, by default its status. Returns an empty text if there is no such condition.
std::string condition(const Object& status, const std::string& type, const char* part = "status") {
  for (const Object& condition : status.value("conditions", Object::array())) {
    if (condition["type"] == type) return condition[part];
  }
  return {};
}

TEST(Process, RecommendsReplicasForALoadAboveTheTarget) {
  ClusterServer server;
  testing::put_workload(server, "chat", 2, 40);
  testing::put_scaler(server, "chat", "chat");
  Running one(server, "one");
  pass(server, {&one}, 30s);

  const Object status = status_of(server);
  EXPECT_EQ(status["replicas"], 2);
  EXPECT_EQ(status["ready"], 2);
  EXPECT_EQ(status["recommended"], 4) << "the load is ten times the target, but one step at most doubles";
  EXPECT_EQ(status["desired"], 2) << "Shadow sets nothing";
  EXPECT_EQ(status["effectiveMode"], "Shadow");
  EXPECT_EQ(status["reason"], "rate_limited");
  EXPECT_EQ(status["signals"]["fresh"], 2);
  const Object& variant = status["variants"].at(0);
  EXPECT_EQ(variant["name"], "chat");
  EXPECT_EQ(variant["current"], 2);
  EXPECT_EQ(variant["ready"], 2);
  EXPECT_EQ(variant["recommended"], 4);
  EXPECT_EQ(variant["reason"], "rate_limited");
  for (const char* type : {"Ready", "SignalsFresh", "TargetsFound"}) EXPECT_EQ(condition(status, type), "True") << type;
  for (const char* type : {"Conflict", "Active", "AtLimit"}) EXPECT_EQ(condition(status, type), "False") << type;
  const auto& events = server.api.objects(testing::kEventsPath);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events.begin()->second["reason"], "RateLimited");
  EXPECT_EQ(events.begin()->second["regarding"]["name"], "chat");
  const std::string note = events.begin()->second["note"];
  EXPECT_TRUE(note.starts_with("Wanted: 4 replicas of ns/chat, 2 requested so far: ")) << note;
  EXPECT_TRUE(note.contains(" Present: 2 ready, 0 starting, 0 pending, 0 draining, 2 not created yet; 2 ")) << note;
  pass(server, {&one}, 300s);
  const std::int64_t added = status_of(server)["ledger"]["gpuHoursMilli"];
  EXPECT_TRUE(status_of(server)["ledger"]["gpuHours"].get<std::string>().starts_with("0.1"));
  EXPECT_GT(added, 120) << "two more GPUs for about five minutes are a sixth of a GPU-hour";
  EXPECT_LT(added, 180);
}

TEST(Process, ShadowWritesOnlyStatusEventsAndItsState) {
  ClusterServer server;
  testing::put_workload(server, "chat", 2, 40);
  testing::put_scaler(server, "chat", "chat", [](Object& scaler) { scaler["spec"]["mode"] = "Active"; });
  Running one(server, "one");
  pass(server, {&one}, 60s);
  EXPECT_EQ(status_of(server)["effectiveMode"], "Shadow") << "without a FleetPolicy";
  std::set<std::string> written;
  for (const auto& request : server.api.seen) {
    if (request.method != "GET") written.insert(request.path.substr(0, request.path.find_first_of("?")));
  }
  for (const std::string& path : written) {
    const bool shown = path.ends_with("/inferencescalers/chat/status") || path.contains("/events") ||
                       path.contains("/leases") || path.contains("/configmaps/capstan-checkpoint-");
    EXPECT_TRUE(shown) << path;
  }
  EXPECT_EQ(server.api.objects(testing::kDeploymentsPath).at("ns/chat")["spec"]["replicas"], 2);
}

/// Records actions and reports them as done.
class Recorder final : public ActionExecutor {
 public:
  void submit(model::ActionToken token, const model::Action& action, const model::Snapshot&) override {
    recorded.push_back(std::get<model::SetReplicas>(action.effect).replicas);
    done_.push_back({token, ports::Outcome::Kind::applied, {}});
  }
  std::vector<ports::Outcome> outcomes() override { return std::exchange(done_, {}); }

  std::vector<ReplicaCount> recorded;

 private:
  std::vector<ports::Outcome> done_;
};

TEST(Process, ActsOnlyIfBothModesAreActive) {
  struct Row {
    const char* fleet;
    const char* scaler;
    bool acts;
  };
  const Row rows[] = {
      {"Active", "Active", true}, {"Active", "Shadow", false}, {"Shadow", "Active", false}, {"Off", "Active", false}};
  for (const Row& row : rows) {
    ClusterServer server;
    testing::put_workload(server, "chat", 2, 40);
    testing::put_scaler(server, "chat", "chat", [&](Object& scaler) { scaler["spec"]["mode"] = row.scaler; });
    server.api.put(testing::kFleetPath, "", "default", {{"spec", {{"layers", {{"replicas", row.fleet}}}}}});
    Recorder recorder;
    Running one(server, "one", &recorder);
    pass(server, {&one}, 30s);
    const Object status = status_of(server);
    EXPECT_EQ(!recorder.recorded.empty(), row.acts) << row.fleet << " " << row.scaler;
    EXPECT_EQ(condition(status, "Active"), row.acts ? "True" : "False");
    EXPECT_EQ(status["desired"], row.acts ? 4 : 2);
    if (row.acts) {
      EXPECT_EQ(recorder.recorded.front(), 4);
    }
  }
}

TEST(Process, SilencePreventsScalingDown) {
  ClusterServer server;
  testing::put_workload(server, "chat", 4, 0);
  testing::put_scaler(server, "chat", "chat",
                      [](Object& scaler) { scaler["spec"]["behavior"] = {{"coolDown", "1s"}}; });
  server.pages.erase(testing::url_of_pod(3));
  Running one(server, "one");
  pass(server, {&one}, 60s);
  Object status = status_of(server);
  EXPECT_EQ(status["recommended"], 4) << "three idle pods and one silent pod";
  EXPECT_EQ(status["reason"], "signal_missing");
  EXPECT_EQ(condition(status, "SignalsFresh"), "False");
  EXPECT_NE(condition(status, "SignalsFresh", "message").find("chat-3"), std::string::npos);
  server.pages[testing::url_of_pod(3)] = testing::page(0);
  pass(server, {&one}, 30s);
  status = status_of(server);
  EXPECT_EQ(status["recommended"], 1);
  EXPECT_EQ(condition(status, "SignalsFresh"), "True");
}

TEST(Process, KeepsAPodThatWasIdleBeforeItFellSilent) {
  ClusterServer server;
  testing::put_workload(server, "chat", 4, 4);
  testing::put_scaler(server, "chat", "chat",
                      [](Object& scaler) { scaler["spec"]["behavior"] = {{"coolDown", "1s"}}; });
  Running one(server, "one");
  pass(server, {&one}, 30s);
  for (int i = 1; i <= 4; ++i) server.pages.erase(testing::url_of_pod(i));
  pass(server, {&one}, 60s);
  EXPECT_EQ(status_of(server)["recommended"], 4);
  EXPECT_EQ(status_of(server)["signals"]["missing"], 4);
}

TEST(Process, AutoscalerOfTheTargetIsAConflictUntilItIsDeleted) {
  ClusterServer server;
  testing::put_workload(server, "chat", 2, 40);
  testing::put_scaler(server, "chat", "chat", [](Object& scaler) { scaler["spec"]["mode"] = "Active"; });
  server.api.put(testing::kFleetPath, "", "default", {{"spec", {{"layers", {{"replicas", "Active"}}}}}});
  server.api.put(testing::kAutoscalersPath, "ns", "hpa",
                 {{"spec", {{"scaleTargetRef", {{"kind", "Deployment"}, {"name", "chat"}}}}}});
  Running one(server, "one");
  pass(server, {&one}, 30s);
  Object status = status_of(server);
  EXPECT_EQ(condition(status, "Conflict"), "True");
  EXPECT_TRUE(condition(status, "Conflict", "message")
                  .contains(" is also scaled by HorizontalPodAutoscaler ns/hpa: remove one of the two; until then"));
  EXPECT_EQ(condition(status, "Ready"), "False");
  EXPECT_EQ(status["effectiveMode"], "Shadow");
  EXPECT_EQ(status["recommended"], 4) << "the recommendation is still shown";
  server.api.remove(testing::kAutoscalersPath, "ns/hpa");
  pass(server, {&one}, 20s);
  status = status_of(server);
  EXPECT_EQ(condition(status, "Conflict"), "False");
  EXPECT_EQ(status["effectiveMode"], "Active");
}

TEST(Process, YoungerOfTwoScalersOfOneTargetShowsTheConflict) {
  ClusterServer server;
  testing::put_workload(server, "chat", 2, 40);
  testing::put_scaler(server, "chat", "chat");
  testing::put_scaler(server, "late", "chat",
                      [](Object& scaler) { scaler["metadata"]["creationTimestamp"] = "2026-11-21T17:00:00Z"; });
  Running one(server, "one");
  pass(server, {&one}, 30s);
  EXPECT_EQ(condition(status_of(server, "chat"), "Conflict"), "False");
  EXPECT_TRUE(condition(status_of(server, "late"), "Conflict", "message")
                  .contains(" is also scaled by InferenceScaler ns/chat, which is older: remove one of the two"));
}

TEST(Process, NamesATargetThatCannotBeScaled) {
  struct Row {
    const char* api_version;
    const char* kind;
    const char* reason;
    const char* message;
  };
  const Row rows[] = {
      {"apps/v1", "Deployment", "TargetNotFound", "Deployment ns/missing does not exist: create it or"},
      {"apps/v1", "Rocket", "NoSuchKind", "the API server has no kind Rocket in apps/v1: install its"},
      {"v1", "Pod", "NoScaleSubresource", "Pod has no /scale subresource: name a Deployment, "},
      {"apps/v1", "ReplicaSet", "TargetNotFound", "ReplicaSet ns/missing does not exist: create it or"},
  };
  for (const Row& row : rows) {
    ClusterServer server;
    server.served["apps"].push_back("ReplicaSet");
    testing::put_scaler(server, "chat", "missing", [&](Object& scaler) {
      Object& target = scaler["spec"]["roles"][0]["variants"][0]["targetRef"];
      target["apiVersion"] = row.api_version;
      target["kind"] = row.kind;
    });
    Running one(server, "one");
    pass(server, {&one}, 30s);
    const Object status = status_of(server);
    EXPECT_EQ(condition(status, "TargetsFound"), "False") << row.kind;
    EXPECT_EQ(condition(status, "TargetsFound", "reason"), row.reason);
    EXPECT_TRUE(condition(status, "TargetsFound", "message")
                    .starts_with("spec.roles[0].variants[0].targetRef: " + std::string(row.message)));
  }
}

TEST(Process, SuccessorContinuesFromTheStoredState) {
  ClusterServer server;
  testing::put_workload(server, "chat", 2, 40);
  testing::put_scaler(server, "chat", "chat");
  Running first(server, "first");
  pass(server, {&first}, 30s);
  ASSERT_TRUE(first.process.leads());
  for (int i = 1; i <= 2; ++i) server.pages[testing::url_of_pod(i)] = testing::page(0);
  pass(server, {&first}, 20s);
  EXPECT_EQ(status_of(server)["recommended"], 4) << "the five-minute window still has the earlier need";
  const Object before = status_of(server);

  first.process.stop();
  Running second(server, "second");
  pass(server, {&first, &second}, 30s);
  EXPECT_TRUE(first.process.stopped());
  EXPECT_TRUE(second.process.leads());
  const Object after = status_of(server);
  for (const char* key : {"recommended", "desired", "reason", "variants", "lastDecision"}) {
    EXPECT_EQ(after[key], before[key]) << key << ": a process without the stored state would recommend two";
  }
  EXPECT_EQ(after["ledger"]["since"], before["ledger"]["since"]);
}

TEST(Process, KilledLeaderHasPublishedItsRecommendation) {
  ClusterServer server;
  testing::put_workload(server, "chat", 2, 1);
  testing::put_scaler(server, "chat", "chat");
  Running second(server, "second");
  {
    Running first(server, "first");
    pass(server, {&first}, 30s);
    for (int i = 1; i <= 2; ++i) server.pages[testing::url_of_pod(i)] = testing::page(40);
    for (int i = 0; i < 20 && first.process.reports().front().recommended() < 4; ++i) pass(server, {&first}, 500ms);
    EXPECT_EQ(first.process.reports().front().recommended(), 4);
  }  // the leader ends immediately afterwards
  for (int i = 1; i <= 2; ++i) server.pages[testing::url_of_pod(i)] = testing::page(0);
  pass(server, {&second}, 40s);
  ASSERT_TRUE(second.process.leads());
  EXPECT_EQ(second.process.reports().front().recommended(), 4);
}

/// Replicas that answer one request a second each, with a histogram of the time to first token.
struct Requests {
  ClusterServer& server;
  int fast = 0;
  int all = 0;

  /// Runs the processes for some seconds. All requests of this time are late, or all are fast.
  void pass(const std::vector<Running*>& processes, bool late, int seconds) {
    for (int second = 0; second < seconds; ++second) {
      all += 1;
      fast += late ? 0 : 1;
      for (auto& [url, page] : server.pages) page = testing::page(4) + histogram();
      testing::pass(server, processes, 1s);
    }
  }
  std::string histogram() const {
    const std::string name = "vllm:time_to_first_token_seconds";
    std::string text = "# TYPE " + name + " histogram\n";
    for (const auto& [suffix, count] : {std::pair{R"(_bucket{model_name="llama",le="0.5"} )", fast},
                                        {R"(_bucket{model_name="llama",le="5.0"} )", all},
                                        {R"(_bucket{model_name="llama",le="+Inf"} )", all},
                                        {R"(_count{model_name="llama"} )", all},
                                        {R"(_sum{model_name="llama"} )", all}}) {
      text += name + suffix + std::to_string(count) + "\n";
    }
    return text;
  }
};

TEST(Process, SloBreachRollsBackUntilItIsAcknowledged) {
  ClusterServer server;
  Requests requests{server};
  testing::put_workload(server, "chat", 2, 4);
  const auto quick = [](Object& scaler) { scaler["spec"]["behavior"] = {{"coolDown", "1s"}}; };
  testing::put_scaler(server, "chat", "chat", quick);
  server.api.put(testing::kFleetPath, "", "default",
                 {{"metadata", {{"name", "default"}}},
                  {"spec", {{"sloBreach", {{"metric", "ttft"}, {"bound", "1s"}, {"for", "30s"}}}}}});
  Running first(server, "first"), second(server, "second");
  requests.pass({&first}, false, 90);
  EXPECT_EQ(condition(status_of(server), "SLOBreach"), "False");
  requests.pass({&first}, true, 200);
  EXPECT_EQ(condition(status_of(server), "SLOBreach"), "True");
  std::set<std::string> recorded;
  for (const auto& [key, event] : server.api.objects(testing::kEventsPath)) recorded.insert(event["reason"]);
  EXPECT_TRUE(recorded.contains("SloRollBack"));

  for (int i = 1; i <= 2; ++i) server.pages[testing::url_of_pod(i)] = testing::page(0);
  first.process.stop();
  pass(server, {&first, &second}, 60s);
  ASSERT_TRUE(second.process.leads());
  EXPECT_EQ(status_of(server)["recommended"], 2) << "a successor keeps the rollback";
  EXPECT_EQ(status_of(server)["reason"], "slo_roll_back");

  const std::string words = condition(status_of(server), "SLOBreach", "message");
  const std::string name = std::string(kSloAcknowledged) + "=";
  ASSERT_NE(words.find(name), std::string::npos) << words;
  testing::put_scaler(server, "chat", "chat", [&](Object& scaler) {
    quick(scaler);
    scaler["metadata"]["annotations"] = {{std::string(kSloAcknowledged), words.substr(words.find(name) + name.size())}};
  });
  pass(server, {&second}, 60s);
  EXPECT_EQ(condition(status_of(server), "SLOBreach"), "False");
  EXPECT_EQ(status_of(server)["recommended"], 1);
}

TEST(Process, StandbyTakesOverFromADeadLeader) {
  ClusterServer server;
  testing::put_workload(server, "chat", 2, 40);
  testing::put_scaler(server, "chat", "chat");
  Running leader(server, "leader"), standby(server, "standby");
  pass(server, {&leader}, 20s);
  pass(server, {&leader, &standby}, 20s);
  EXPECT_TRUE(leader.process.leads());
  EXPECT_FALSE(standby.process.leads());
  EXPECT_TRUE(standby.process.reports().empty()) << "a standby decides nothing";
  pass(server, {&standby}, 25s);  // the leader hangs
  EXPECT_TRUE(standby.process.leads());
  EXPECT_FALSE(standby.process.reports().empty());
  pass(server, {&leader, &standby}, 5s);
  EXPECT_FALSE(leader.process.leads());
  EXPECT_TRUE(leader.process.reports().empty());
}

TEST(Process, ResumesAfterAnOutageOfTheServer) {
  ClusterServer server;
  testing::put_workload(server, "chat", 2, 1);
  testing::put_scaler(server, "chat", "chat");
  Running one(server, "one");
  pass(server, {&one}, 30s);
  server.api.faults.unreachable = 1'000'000;
  server.api.drop_all();
  pass(server, {&one}, 60s);
  EXPECT_FALSE(one.process.leads());
  server.api.faults = {};
  for (int i = 1; i <= 2; ++i) server.pages[testing::url_of_pod(i)] = testing::page(40);
  pass(server, {&one}, 30s);
  EXPECT_TRUE(one.process.leads());
  EXPECT_EQ(status_of(server)["recommended"], 4);
}

TEST(Process, DoesNotActOnAnOutdatedView) {
  ClusterServer server;
  testing::put_workload(server, "chat", 2, 1);
  testing::put_scaler(server, "chat", "chat", [](Object& scaler) { scaler["spec"]["mode"] = "Active"; });
  server.api.put(testing::kFleetPath, "", "default", {{"spec", {{"layers", {{"replicas", "Active"}}}}}});
  Running one(server, "one");
  const Endpoints endpoints(one.process);
  pass(server, {&one}, 400s);
  EXPECT_TRUE(one.process.too_old().empty()) << "bookmarks keep quiet kinds fresh";
  server.api.forbidden = "/api/v1/nodes";
  server.api.drop_all();
  pass(server, {&one}, ClusterWatch::kMaxAge + 20s);
  EXPECT_EQ(endpoints.answer("GET", "/readyz").body.substr(0, 38), "has received nothing about nodes for 3");
  for (int i = 1; i <= 2; ++i) server.pages[testing::url_of_pod(i)] = testing::page(40);
  pass(server, {&one}, 60s);
  EXPECT_EQ(status_of(server)["recommended"], 4) << "the recommendation is still shown";
  EXPECT_EQ(server.api.objects(testing::kDeploymentsPath).at("ns/chat")["spec"]["replicas"], 2);
  server.api.forbidden.clear();
  pass(server, {&one}, 30s);
  EXPECT_EQ(endpoints.answer("GET", "/readyz").status, 200);
  EXPECT_GE(server.api.objects(testing::kDeploymentsPath).at("ns/chat")["spec"]["replicas"], 4);
}

TEST(Process, WritesAStatusOnChangeAndOnceAMinute) {
  ClusterServer server;
  testing::put_workload(server, "chat", 2, 4);
  testing::put_scaler(server, "chat", "chat");
  Running one(server, "one");
  pass(server, {&one}, 30s);
  const std::uint64_t settled = one.process.status().writes();
  pass(server, {&one}, 180s);
  EXPECT_LE(one.process.status().writes(), settled + 3);
  EXPECT_GE(one.process.status().writes(), settled + 2);
}

TEST(Process, ServesMetricsAndStateOverHttp) {
  ClusterServer server;
  testing::put_workload(server, "chat", 2, 40);
  testing::put_scaler(server, "chat", "chat");
  Running one(server, "one");
  const Endpoints endpoints(one.process);
  EXPECT_EQ(endpoints.answer("GET", "/healthz").status, 200);
  EXPECT_EQ(endpoints.answer("GET", "/livez").status, 200);
  EXPECT_EQ(endpoints.answer("GET", "/readyz").status, 503);
  EXPECT_NE(endpoints.answer("GET", "/readyz").body.find("waits for inferencescalers.capstan.dev"), std::string::npos);
  EXPECT_EQ(endpoints.answer("GET", "/other").status, 404);
  EXPECT_EQ(endpoints.answer("POST", "/metrics").status, 405);
  const std::string none = "\ncapstan_decisions_total 0\n";  // before the first view is complete
  EXPECT_NE(endpoints.answer("GET", "/metrics").body.find(none), std::string::npos);
  pass(server, {&one}, 30s);
  EXPECT_EQ(endpoints.answer("GET", "/readyz").status, 200);
  const std::string metrics = endpoints.answer("GET", "/metrics").body;
  EXPECT_EQ(metrics.find(none), std::string::npos);
  for (const char* line :
       {"\ncapstan_leader 1\n", "\ncapstan_nodes_awaited 0\n", "\ncapstan_node_wait_seconds_count 0\n",
        "\ncapstan_target_replicas{namespace=\"ns\",scaler=\"chat\",target=\"chat\",state=\"recommended\"} 4\n",
        "\ncapstan_signals{namespace=\"ns\",scaler=\"chat\",state=\"fresh\"} 2\n",
        "\ncapstan_condition{namespace=\"ns\",scaler=\"chat\",type=\"Ready\"} 1\n"}) {
    EXPECT_NE(metrics.find(line), std::string::npos) << line << "\n" << metrics;
  }
}

/// Adds a scaler with only model, GPU and SLO.
void put_minimal_scaler(ClusterServer& server, const std::function<void(Object&)>& change = {}) {
  testing::put_scaler(server, "chat", "chat", [&](Object& scaler) {
    scaler["spec"].erase("policy");
    scaler["spec"]["slo"] = {{"ttft", "2s"}, {"tpot", "50ms"}};
    scaler["spec"]["roles"][0]["variants"][0]["gpu"] = "h100_sxm";
    scaler["spec"]["roles"][0]["variants"][0]["engineProfile"] = {{"model", "Llama-3.1-8B"}};
    if (change) change(scaler);
  });
}

TEST(Process, PolicyCapstanNeedsOnlyModelGpuAndSlo) {
  ClusterServer server;
  testing::put_workload(server, "chat", 2, 0);
  put_minimal_scaler(server);
  Running one(server, "one");
  // Each of two replicas gets 4,000 requests a minute of 800 input and 200 output tokens. That is too much for them.
  for (std::int64_t second = 0; second < 120; second += 5) {
    for (int i = 1; i <= 2; ++i) {
      server.pages[testing::url_of_pod(i)] = testing::page_of_work(200, 53'000 * second, 13'000 * second);
    }
    pass(server, {&one}, 5s);
  }
  const Object status = status_of(server);
  EXPECT_EQ(status["policy"], "Capstan");
  EXPECT_GT(status["recommended"], 2);
  EXPECT_EQ(status["reason"], "demand_rising") << status["message"];
  EXPECT_EQ(condition(status, "EngineKnown"), "True");
  EXPECT_EQ(condition(status, "EngineKnown", "message"), "Llama-3.1-8B in bfloat16 on 1 x h100_sxm");
  EXPECT_EQ(condition(status, "Ready"), "True");
}

TEST(Process, NamesTheReplacementForAnUnknownEngineRow) {
  ClusterServer server;
  testing::put_workload(server, "chat", 2, 0);
  put_minimal_scaler(server, [](Object& scaler) { scaler["spec"]["roles"][0]["variants"][0].erase("engineProfile"); });
  Running one(server, "one");
  pass(server, {&one}, 30s);
  const Object status = status_of(server);
  EXPECT_EQ(condition(status, "EngineKnown"), "False");
  EXPECT_EQ(condition(status, "EngineKnown", "reason"), "NotInEngineTable");
  const std::string message = condition(status, "EngineKnown", "message");
  EXPECT_TRUE(
      message.starts_with("spec.roles[0].variants[0].engineProfile: no engine table for llama on h100_sxm tp 1 "
                          "bfloat16, expected one of the models Llama-3.1-8B"))
      << message;
  EXPECT_TRUE(message.ends_with("step times with at least three running requests")) << message;
}

TEST(Process, PolicyCapstanTreatsAnEngineWithoutTokenCountersAsSilent) {
  ClusterServer server;
  testing::put_workload(server, "chat", 3, 0);  // its pages have only waiting and running requests
  put_minimal_scaler(server);
  Running one(server, "one");
  pass(server, {&one}, 30min);
  const Object status = status_of(server);
  EXPECT_EQ(status["recommended"], 3) << "one replica would be enough for an idle service";
  EXPECT_EQ(status["reason"], "signal_missing");
  EXPECT_EQ(status["signals"]["missing"], 3);
  EXPECT_EQ(condition(status, "SignalsFresh"), "False");
  EXPECT_EQ(condition(status, "SignalsFresh", "message"),
            "chat-1: prompt_tokens_total: the page has no metric for this signal");
}

TEST(Process, RulesNameTheSignalAboveItsBound) {
  ClusterServer server;
  testing::put_workload(server, "chat", 2, 0);
  put_minimal_scaler(server, [](Object& scaler) {
    scaler["spec"]["rules"] = {{"scaleOn", "KV"}, {"kvAbove", "30%"}, {"kvBelow", "5%"}};
  });
  Running one(server, "one");
  for (std::int64_t second = 0; second < 60; second += 5) {
    for (int i = 1; i <= 2; ++i) {
      server.pages[testing::url_of_pod(i)] = testing::page_of_work(200, 1'000 * second, 1'000 * second);
    }
    pass(server, {&one}, 5s);
  }
  const Object status = status_of(server);
  EXPECT_EQ(status["policy"], "Rules");
  EXPECT_EQ(status["recommended"], 3);
  EXPECT_EQ(status["reason"], "kv_above_bound");
  EXPECT_EQ(condition(status, "EngineKnown"), "Unknown");
}

TEST(Process, ReportsAContradictorySpecAndDoesNotAct) {
  ClusterServer server;
  testing::put_workload(server, "chat", 2, 40);
  server.api.put(testing::kFleetPath, "", "default", {{"spec", {{"layers", {{"replicas", "Active"}}}}}});
  put_minimal_scaler(server, [](Object& scaler) {
    scaler["spec"]["mode"] = "Active";
    scaler["spec"]["rules"] = {{"waitingAbove", 2}, {"waitingBelow", 2}};
  });
  Recorder recorder;
  Running one(server, "one", &recorder);
  pass(server, {&one}, 30s);
  const Object status = status_of(server);
  EXPECT_TRUE(recorder.recorded.empty());
  EXPECT_EQ(status["effectiveMode"], "Shadow");
  EXPECT_EQ(condition(status, "Ready", "reason"), "InvalidSpec");
  EXPECT_EQ(condition(status, "Ready", "message"),
            "spec.rules.waitingBelow: found 2, expected less than waitingAbove, 2");
}

/// Adds an object of an unknown kind with a /scale subresource, and its two pods.
Object put_engines(ClusterServer& server) {
  server.served["example.com"] = {"Engine"};
  testing::put_workload(server, "chat", 2, 40);
  server.api.remove(testing::kDeploymentsPath, "ns/chat");
  const Object engine = {{"kind", "Engine"},
                         {"metadata", testing::meta("chat")},
                         {"spec", {{"replicas", 2}}},
                         {"status", {{"replicas", 2}, {"selector", "app=chat"}}}};
  server.api.put("/apis/example.com/v1/Engine", "ns", "chat", engine);
  testing::put_scaler(server, "chat", "chat", [](Object& scaler) {
    scaler["spec"]["mode"] = "Active";
    Object& target = scaler["spec"]["roles"][0]["variants"][0]["targetRef"];
    target["apiVersion"] = "example.com/v1";
    target["kind"] = "Engine";
  });
  server.api.put(testing::kFleetPath, "", "default", {{"spec", {{"layers", {{"replicas", "Active"}}}}}});
  return engine;
}

TEST(Process, ScalesAnyKindWithAScaleSubresource) {
  ClusterServer server;
  put_engines(server);
  Running one(server, "one");
  pass(server, {&one}, 30s);
  const Object status = status_of(server);
  EXPECT_EQ(condition(status, "TargetsFound"), "True") << condition(status, "TargetsFound", "message");
  EXPECT_EQ(status["ready"], 2);
  const Object engine = server.api.objects("/apis/example.com/v1/Engine").at("ns/chat");
  EXPECT_GE(engine["spec"]["replicas"], 4) << "the value written to /scale";
  std::size_t reads = 0;
  for (const auto& request : server.api.seen) reads += request.path.contains("/Engine/") && request.method == "GET";
  EXPECT_LE(reads, 30u) << "two reads every five seconds, plus the reads for writes";
}

TEST(Process, NamesATargetWhoseScaleHasNoSelector) {
  ClusterServer server;
  Object engine = put_engines(server);
  engine["status"]["selector"] = "";
  server.api.put("/apis/example.com/v1/Engine", "ns", "chat", engine);
  Running one(server, "one");
  pass(server, {&one}, 30s);
  const Object status = status_of(server);
  EXPECT_EQ(condition(status, "TargetsFound", "reason"), "ScaleNotRead");
  EXPECT_EQ(
      condition(status, "TargetsFound", "message"),
      "spec.roles[0].variants[0].targetRef: Engine ns/chat: its /scale has status.selector \"\", expected one that "
      "finds its pods");
  EXPECT_EQ(server.api.objects("/apis/example.com/v1/Engine").at("ns/chat")["spec"]["replicas"], 2);
}

TEST(Process, OwnerOfSuchATargetIsAConflict) {
  ClusterServer server;
  Object engine = put_engines(server);
  engine["metadata"]["ownerReferences"] = {{{"kind", "Stack"}, {"name", "prod"}, {"controller", true}}};
  server.api.put("/apis/example.com/v1/Engine", "ns", "chat", engine);
  Running one(server, "one");
  pass(server, {&one}, 30s);
  EXPECT_EQ(condition(status_of(server), "Conflict"), "True");
  EXPECT_TRUE(condition(status_of(server), "Conflict", "message").contains(" is also scaled by Stack prod: "));
}

}  // namespace
}  // namespace capstan::op
