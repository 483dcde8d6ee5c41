#include "explain/signal_path.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

namespace capstan::explain {
namespace {

/// Returns the facts of a service whose signals all arrive: one pod with vLLM.
SignalFacts healthy() {
  SignalFacts facts;
  facts.service = "ns/chat";
  facts.model = "Llama-3.1-8B";
  facts.target = "Deployment ns/chat";
  PodFacts pod;
  pod.name = "chat-0";
  pod.url = "http://10.0.0.7:8000/metrics";
  pod.declared_ports = {"8080 (http)"};
  pod.engine = "vllm";
  pod.metrics = 84;
  pod.models = {"Llama-3.1-8B"};
  facts.pods.push_back(pod);
  return facts;
}

/// A cause of a lost signal, and the stage that the answer must name.
struct LostSignal {
  const char* name;
  std::function<void(SignalFacts&)> cause;
  SignalStage stage;
  const char* text;    ///< part of the text of the stage
  const char* remedy;  ///< part of the remedy
};

const LostSignal kLost[] = {
    {"RbacForbidsPods", [](SignalFacts& f) { f.unread = {{"pods", 403, "403 Forbidden: pods is forbidden"}}; },
     SignalStage::access, "the request for pods failed: 403 Forbidden: pods is forbidden",
     "kubectl auth can-i list pods"},
    {"TheApiServerIsNotReachable", [](SignalFacts& f) { f.unread = {{"pods", 0, "connection refused"}}; },
     SignalStage::access, "the request for pods failed: connection refused", "kubectl get --raw /readyz"},
    {"AListTakesTooLong", [](SignalFacts& f) { f.unread = {{"nodes", 0, "no complete answer in 30 s"}}; },
     SignalStage::access, "the request for nodes failed: no complete answer in 30 s", "kubectl get --raw /readyz"},
    {"TheCredentialsAreNotAccepted", [](SignalFacts& f) { f.unread = {{"pods", 401, "401 Unauthorized"}}; },
     SignalStage::access, "401 Unauthorized", "renew the credentials"},
    {"TheDefinitionsAreNotInstalled",
     [](SignalFacts& f) { f.unread = {{"inferencescalers.capstan.dev", 404, "404 NotFound"}}; }, SignalStage::access,
     "inferencescalers.capstan.dev failed: 404", "install the CustomResourceDefinition"},
    {"TheApiServerIsOverloaded", [](SignalFacts& f) { f.unread = {{"pods", 503, "503 ServiceUnavailable"}}; },
     SignalStage::access, "503 ServiceUnavailable", "overloaded or faulty"},
    {"ARefusalIsShownBeforeAFailureThatMayPass",
     [](SignalFacts& f) { f.unread = {{"nodes", 0, "connection reset"}, {"pods", 403, "403 Forbidden"}}; },
     SignalStage::access, "the request for pods failed: 403 Forbidden; 1 other request failed too",
     "auth can-i list pods"},
    {"TheTargetDoesNotExist", [](SignalFacts& f) { f.target_missing = "there is no Deployment ns/chta"; },
     SignalStage::target, "there is no Deployment ns/chta", "correct targetRef"},
    {"NoPodExists", [](SignalFacts& f) { f.pods.clear(); }, SignalStage::pod, "no pod exists", "raise the replicas"},
    {"NoPodIsReady",
     [](SignalFacts& f) {
       f.pods[0].ready = false;
       f.pods[0].not_ready = "CrashLoopBackOff";
     },
     SignalStage::pod, "chat-0 is not ready: CrashLoopBackOff", "kubectl describe pod chat-0"},
    {"ThePortIsWrong", [](SignalFacts& f) { f.pods[0].error = "connection refused"; }, SignalStage::port,
     "connection refused; the pod declares port 8080 (http)", "spec.signals.pods.port"},
    {"ThePathIsWrong", [](SignalFacts& f) { f.pods[0].http_status = 404; }, SignalStage::port, "answers HTTP 404",
     "spec.signals.pods.path"},
    {"ThePageNeedsAToken", [](SignalFacts& f) { f.pods[0].http_status = 401; }, SignalStage::port, "answers HTTP 401",
     "without authentication"},
    {"ThePageIsBroken", [](SignalFacts& f) { f.pods[0].bad_page = "chat-0:3:7: found no value"; }, SignalStage::page,
     "chat-0:3:7: found no value", "one bad line discards the whole page"},
    {"ASidecarIsScraped", [](SignalFacts& f) { f.pods[0].engine.clear(); }, SignalStage::names,
     "no metric of a known engine", "not a sidecar"},
    {"TheEngineVersionRenamedTheMetric",
     [](SignalFacts& f) {
       f.pods[0].lost = {{"KV cache use",
                          {"vllm:kv_cache_usage_perc", "vllm:gpu_cache_usage_perc"},
                          "vllm:kv_cache_usage_ratio",
                          "kvUsage"}};
     },
     SignalStage::names, "the page has vllm:kv_cache_usage_ratio",
     "name vllm:kv_cache_usage_ratio in spec.signals.custom.kvUsage"},
    {"TheEngineDoesNotExportTheMetric",
     [](SignalFacts& f) { f.pods[0].lost = {{"waiting requests", {"tgi_queue_size"}, ""}}; }, SignalStage::names,
     "no metric for the signal waiting requests; Capstan knows the names tgi_queue_size", "use an engine version"},
    {"TheModelHasAnotherName", [](SignalFacts& f) { f.pods[0].models = {"meta-llama/Llama-3.1-8B-Instruct"}; },
     SignalStage::model, "about model meta-llama/Llama-3.1-8B-Instruct, expected Llama-3.1-8B",
     "--served-model-name \"Llama-3.1-8B\""},
    {"ThePageHasTwoModelsAndNoneIsNamed",
     [](SignalFacts& f) {
       f.model.clear();
       f.pods[0].models = {"a", "b"};
     },
     SignalStage::model, "2 models", "spec.model"},
    {"TheAddressBelongsToAnotherPod", [](SignalFacts& f) { f.pods[0].other_pod = "search-3"; }, SignalStage::model,
     "the page names pod search-3", "another pod now"},
    {"PrometheusDoesNotAnswer",
     [](SignalFacts& f) { f.prometheus = PrometheusFacts{.url = "http://prom", .error = "connection refused"}; },
     SignalStage::prometheus, "http://prom: connection refused", "spec.signals.prometheus.url"},
    {"PrometheusNeedsAToken",
     [](SignalFacts& f) { f.prometheus = PrometheusFacts{.url = "http://prom", .http_status = 403}; },
     SignalStage::prometheus, "answers HTTP 403", "token"},
    {"ThePrometheusTargetIsDown",
     [](SignalFacts& f) {
       f.prometheus = PrometheusFacts{
           .url = "http://prom", .targets_down = 2, .down_target = "10.0.0.7:8000: context deadline exceeded"};
     },
     SignalStage::prometheus, "2 targets are down: 10.0.0.7:8000", "ServiceMonitor"},
    {"PrometheusHasNoTarget",
     [](SignalFacts& f) {
       f.prometheus = PrometheusFacts{.url = "http://prom", .has_series = false, .selector = "{namespace=\"ns\"}"};
     },
     SignalStage::prometheus, "no series for {namespace=\"ns\"}", "create a ServiceMonitor"},
    {"TheSelectorMatchesNoSeries",
     [](SignalFacts& f) {
       f.prometheus =
           PrometheusFacts{.url = "http://prom", .targets_up = 2, .has_series = false, .selector = "{a=\"b\"}"};
     },
     SignalStage::prometheus, "no series for {a=\"b\"}", "spec.signals.prometheus.selector"},
    {"NoMetricsApiIsRegistered",
     [](SignalFacts& f) { f.adapter = AdapterFacts{.metric = "vllm_waiting", .api_registered = false}; },
     SignalStage::adapter, "no metrics API is registered", "prometheus-adapter or KEDA"},
    {"TheAdapterHasNoRuleForTheMetric",
     [](SignalFacts& f) { f.adapter = AdapterFacts{.metric = "vllm_waiting", .metric_served = false}; },
     SignalStage::adapter, "does not serve vllm_waiting", "add a rule for vllm_waiting"},
    {"TheAdapterHasNoValueForThePods",
     [](SignalFacts& f) { f.adapter = AdapterFacts{.metric = "vllm_waiting", .has_value = false}; },
     SignalStage::adapter, "has no value for the pods of the target", "exported_pod"},
    {"TheValueIsNotANumber",
     [](SignalFacts& f) { f.unusable = {{"chat-0", "KV cache use", "the value is NaN or infinite"}}; },
     SignalStage::snapshot, "chat-0: KV cache use: the value is NaN", "docs/guides/signals.md"},
};

TEST(SignalPath, TheFirstBrokenStageIsNamedWithItsRemedy) {
  for (const LostSignal& row : kLost) {
    SignalFacts facts = healthy();
    row.cause(facts);
    const SignalPath path = signal_path(facts);
    ASSERT_TRUE(path.broken.has_value()) << row.name;
    EXPECT_EQ(name(*path.broken), name(row.stage)) << row.name;
    EXPECT_TRUE(path.remedy.contains(row.remedy)) << row.name << ": " << path.remedy;
    const auto stage = std::ranges::find(path.stages, row.stage, &StageResult::stage);
    ASSERT_NE(stage, path.stages.end()) << row.name;
    EXPECT_TRUE(stage->text.contains(row.text)) << row.name << ": " << stage->text;
    for (auto later = stage + 1; later != path.stages.end(); ++later) {
      EXPECT_EQ(later->state, StageResult::State::unknown) << row.name << ": " << name(later->stage);
    }
  }
}

TEST(SignalPath, AHealthyServicePassesEveryStage) {
  const SignalPath path = signal_path(healthy());
  EXPECT_FALSE(path.broken.has_value());
  EXPECT_EQ(text(path),
            "✓ access     the API server lets Capstan read all objects\n"
            "✓ target     Deployment ns/chat\n"
            "✓ pod        1 pod ready\n"
            "✓ port       http://10.0.0.7:8000/metrics\n"
            "✓ page       84 metrics\n"
            "✓ names      vllm, all needed metrics\n"
            "✓ model      Llama-3.1-8B\n"
            "✓ snapshot   all needed signals are fresh\n"
            "no signal is lost\n");
}

TEST(SignalPath, AMetricsApiThatCouldNotBeAskedIsUnknownAndBreaksNothing) {
  SignalFacts facts = healthy();
  facts.adapter = AdapterFacts{.metric = "vllm_waiting", .unread = "403 Forbidden"};
  const SignalPath path = signal_path(facts);
  EXPECT_FALSE(path.broken.has_value());
  EXPECT_TRUE(text(path).contains("- adapter    vllm_waiting is not checked: 403 Forbidden\n")) << text(path);
}

TEST(SignalPath, ABrokenStageEndsTheText) {
  SignalFacts facts = healthy();
  facts.pods[0].error = "connection refused";
  const std::string shown = text(signal_path(facts));
  EXPECT_TRUE(shown.contains("✗ port       chat-0: http://10.0.0.7:8000/metrics: connection refused;")) << shown;
  EXPECT_TRUE(shown.contains("- page       not reached\n")) << shown;
  EXPECT_TRUE(shown.contains("\nlost at stage port: set spec.signals.pods.port")) << shown;
}

TEST(SignalPath, APageAloneHasNoClusterStages) {
  SignalFacts facts = healthy();
  facts.target.clear();
  const SignalPath path = signal_path(facts);
  EXPECT_EQ(path.stages.front().stage, SignalStage::port);
}

TEST(SignalPath, APodThatIsNotReadyIsNotJudged) {
  SignalFacts facts = healthy();
  PodFacts starting;
  starting.name = "chat-1";
  starting.ready = false;
  starting.error = "connection refused";
  facts.pods.push_back(starting);
  EXPECT_FALSE(signal_path(facts).broken.has_value());
}

}  // namespace
}  // namespace capstan::explain
