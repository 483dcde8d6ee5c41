#include "operator/facts/metrics_api.h"

#include <gtest/gtest.h>

namespace capstan::op {
namespace {

kube::Outcome ok(std::string body) { return {kube::Outcome::Kind::ok, {}, std::move(body)}; }

kube::Outcome refused(int code, std::string reason) {
  kube::Outcome outcome{kube::Outcome::Kind::refused, {}, {}};
  outcome.error.code = code;
  outcome.error.reason = std::move(reason);
  return outcome;
}

const kube::Outcome kGroup = ok(R"({"preferredVersion":{"groupVersion":"custom.metrics.k8s.io/v1beta2"}})");
const kube::Outcome kRules = ok(R"({"resources":[{"name":"pods/vllm_waiting"},{"name":"namespaces/vllm_waiting"}]})");
const kube::Outcome kOtherRules = ok(R"({"resources":[{"name":"pods/http_requests"}]})");
const kube::Outcome kValues = ok(R"({"items":[{"describedObject":{"name":"chat-0"},"value":"12"}]})");

TEST(MetricsApi, TheMetricsOfPodsAndOfExternalSystemsAreRead) {
  const auto metrics = hpa_metrics(R"({"spec":{"metrics":[
      {"type":"Resource","resource":{"name":"cpu"}},
      {"type":"Pods","pods":{"metric":{"name":"vllm_waiting"}}},
      {"type":"External","external":{"metric":{"name":"s0-prometheus",
         "selector":{"matchLabels":{"scaledobject.keda.sh/name":"chat"}}}}},
      {"type":"Pods","pods":{"metric":7}}]}})");
  ASSERT_EQ(metrics.size(), 2u);
  EXPECT_EQ(metrics[0].name, "vllm_waiting");
  EXPECT_EQ(metrics[0].group(), "custom.metrics.k8s.io");
  EXPECT_EQ(metrics[1].group(), "external.metrics.k8s.io");
  EXPECT_EQ(metrics[1].labels.get("scaledobject.keda.sh/name"), "chat");
  for (const char* invalid : {"", "[]", "{", R"({"spec":null})"}) EXPECT_TRUE(hpa_metrics(invalid).empty()) << invalid;
}

TEST(MetricsApi, AValueIsAskedForAsAnHpaAsks) {
  EXPECT_EQ(values_path({.name = "vllm_waiting"}, "custom.metrics.k8s.io/v1beta2", "ns", {{"app", "chat"}}),
            "/apis/custom.metrics.k8s.io/v1beta2/namespaces/ns/pods/*/vllm_waiting?labelSelector=app%3Dchat");
  EXPECT_EQ(values_path({.name = "s0", .external = true, .labels = {{"a", "b"}}}, "external.metrics.k8s.io/v1beta1",
                        "ns", {{"app", "chat"}}),
            "/apis/external.metrics.k8s.io/v1beta1/namespaces/ns/s0?labelSelector=a%3Db");
}

TEST(MetricsApi, EachWayToLoseAMetricIsReported) {
  struct Row {
    const char* name;
    MetricAnswers answers;
    bool registered;
    bool served;
    bool value;
    const char* unread;
  };
  const Row rows[] = {
      {"everything is there", {kGroup, kRules, kValues}, true, true, true, ""},
      {"no APIService", {refused(404, "NotFound"), {}, {}}, false, true, true, ""},
      {"the adapter is down", {kGroup, refused(503, "ServiceUnavailable"), {}}, false, true, true, ""},
      {"no rule", {kGroup, kOtherRules, refused(404, "NotFound")}, true, false, false, ""},
      {"a rule without a value", {kGroup, kRules, refused(404, "NotFound")}, true, true, false, ""},
      {"a rule with an empty list", {kGroup, kRules, ok(R"({"items":[]})")}, true, true, false, ""},
      {"KEDA lists no metrics", {kGroup, ok(R"({"resources":[]})"), kValues}, true, true, true, ""},
      {"RBAC", {kGroup, kRules, refused(403, "Forbidden")}, true, true, true, "403 Forbidden"},
  };
  for (const Row& row : rows) {
    const explain::AdapterFacts facts = adapter_facts({.name = "vllm_waiting"}, row.answers);
    EXPECT_EQ(facts.metric, "vllm_waiting");
    EXPECT_EQ(facts.api_registered, row.registered) << row.name;
    EXPECT_EQ(facts.metric_served, row.served) << row.name;
    EXPECT_EQ(facts.has_value, row.value) << row.name;
    EXPECT_TRUE(facts.unread.starts_with(row.unread) && facts.unread.empty() == (row.unread[0] == 0))
        << row.name << ": " << facts.unread;
  }
}

}  // namespace
}  // namespace capstan::op
