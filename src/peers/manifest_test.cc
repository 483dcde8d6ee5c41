#include "peers/manifest.h"

#include <gtest/gtest.h>

#include "peers/sight_fixture.h"

namespace capstan::peers {
namespace {

using namespace std::chrono_literals;

constexpr const char* kHpa = R"yaml(
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: llama, labels: {team: a}}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: llama}
  minReplicas: 2
  maxReplicas: 10
  metrics:
  - type: Pods
    pods: {metric: {name: vllm_num_requests_running}, target: {type: AverageValue, averageValue: "20"}}
  - type: External
    external:
      metric: {name: "vllm:num_requests_waiting", selector: {matchLabels: {namespace: chat}}}
      target: {type: Value, value: 500m}
  behavior:
    scaleUp: {stabilizationWindowSeconds: 30, policies: [{type: Pods, value: 2, periodSeconds: 60}]}
    scaleDown: {selectPolicy: Disabled}
)yaml";

constexpr const char* kScaledObject = R"yaml(
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: llama}
spec:
  scaleTargetRef: {name: llama}
  minReplicaCount: 0
  maxReplicaCount: 8
  cooldownPeriod: 60
  triggers:
  - type: prometheus
    metadata: {serverAddress: "http://p", query: "sum(vllm:num_requests_running)",
               threshold: "20", activationThreshold: "3"}
)yaml";

std::string refusal(std::string text, const std::string& from, const std::string& to) {
  text.replace(text.find(from), from.size(), to);
  manifest::Verdict verdict;
  const Result<manifest::Node> root = manifest::parse(text, "m.yaml");
  read_manifest(*root, "m.yaml", verdict);
  return verdict.error ? verdict.error->text() : "";
}

HpaSpec read(const std::string& text) {
  manifest::Verdict verdict;
  const Result<manifest::Node> root = manifest::parse(text, "m.yaml");
  HpaSpec spec = read_manifest(*root, "m.yaml", verdict);
  EXPECT_TRUE(verdict.ok()) << verdict.error->text();
  return spec;
}

TEST(Manifest, AnHpaIsReadUnchanged) {
  const HpaSpec spec = read(kHpa);
  EXPECT_EQ(spec.min_replicas, 2);
  ASSERT_EQ(spec.metrics.size(), 2u);
  EXPECT_EQ(spec.metrics[0].query.text(), "sum by (pod) (vllm:num_requests_running)");
  EXPECT_EQ(spec.metrics[1].query.text(), "sum(vllm:num_requests_waiting{namespace=\"chat\"})");
  EXPECT_EQ(spec.metrics[1].target, HpaMetric::Target::value);
  EXPECT_EQ(spec.metrics[1].target_milli, 500);
  EXPECT_EQ(spec.settings.behavior->up.stabilization, 30s);
  EXPECT_EQ(spec.settings.behavior->down.select, decide::scale::HpaRules::Select::disabled);
}

TEST(Manifest, WhatCannotBeIsRefusedWhereItStands) {
  EXPECT_EQ(refusal(kHpa, "name: vllm_num_requests_running", "name: queue").substr(0, 62),
            "m.yaml:11:27: pods.metric.name: found \"queue\", expected one of");
  EXPECT_NE(refusal(kHpa, "type: External", "type: Resource").find("m.yaml:12:11: metrics.type: found \"Resource\""),
            std::string::npos);
  EXPECT_NE(refusal(kHpa, "minReplicas: 2", "minReplica: 2").find("did you mean"), std::string::npos);
  EXPECT_NE(refusal(kScaledObject, "sum(vllm", "sum(rate(vllm").find("m.yaml:12:51: query:1:10"), std::string::npos)
      << refusal(kScaledObject, "sum(vllm", "sum(rate(vllm");
  EXPECT_NE(refusal(kScaledObject, "type: prometheus", "type: cron").find("triggers.type: found \"cron\""),
            std::string::npos);
  EXPECT_NE(refusal(kScaledObject, "\"20\"", "\"0\"").find("expected more than 0"), std::string::npos);
}

TEST(Hpa, TheHighestMetricWinsAndASilentOneBlocksTheWayDown) {
  HpaAutoscaler hpa(read(kHpa));
  SightFixture at;
  at.serve(4, 30);
  at.scrape("vllm:num_requests_running", 30, {});
  EXPECT_EQ(hpa.look(at.sight(), Instant{0s}).replicas, 4) << "the window of scaleUp holds what was before";
  EXPECT_EQ(hpa.look(at.sight(), Instant{45s}).replicas, 6) << "30 / 20 * 4, at most two more a minute";
  at.serve(6, 1);
  at.scrape("vllm:num_requests_running", 1, Instant{60s});
  const Wish held = hpa.look(at.sight(), Instant{120s});
  EXPECT_EQ(held.replicas, 6);
  EXPECT_EQ(held.why, "a metric could not be read, so nothing is lowered");
  ASSERT_EQ(hpa.warnings().size(), 1u);
  EXPECT_NE(hpa.warnings()[0].find("never found a series"), std::string::npos);
}

TEST(Hpa, ABadSignalIsNamed) {
  std::string text = kHpa;
  text.replace(text.find("vllm_num_requests_running"), 25, "DCGM_FI_DEV_GPU_UTIL");
  const HpaAutoscaler hpa(read(text));
  EXPECT_EQ(hpa.warnings().at(0).substr(0, 20), "DCGM_FI_DEV_GPU_UTIL");
}

TEST(Keda, GoesToZeroAfterItsCooldownAndComesBackWhenATriggerIsActive) {
  HpaAutoscaler keda(read(kScaledObject));
  SightFixture at;
  at.serve(1, 5);
  at.scrape("vllm:num_requests_running", 5, {});
  EXPECT_EQ(keda.look(at.sight(), Instant{0s}).replicas, 1);
  at.scrape("vllm:num_requests_running", 2, Instant{15s});
  EXPECT_EQ(keda.look(at.sight(), Instant{30s}).replicas, 1) << "below its activation, and the cooldown runs";
  at.scrape("vllm:num_requests_running", 2, Instant{60s});
  EXPECT_EQ(keda.look(at.sight(), Instant{75s}).replicas, 0);
  at.role.current = 0;
  EXPECT_EQ(keda.look(at.sight(), Instant{90s}).replicas, 0);
  at.scrape("vllm:num_requests_running", 9, Instant{105s});
  EXPECT_EQ(keda.look(at.sight(), Instant{105s}).replicas, 1);
}

TEST(Keda, AGapInTheScrapesLooksLikeNoLoad) {
  HpaAutoscaler keda(read(kScaledObject));
  SightFixture at;
  at.serve(6, 20);
  at.scrape("vllm:num_requests_running", 20, {});
  EXPECT_EQ(keda.look(at.sight(), Instant{0s}).replicas, 6);
  for (int s = 15; s <= 600; s += 15) keda.look(at.sight(), Instant{std::chrono::seconds(s)});
  EXPECT_EQ(keda.look(at.sight(), Instant{630s}).replicas, 0) << "nothing for ten minutes is 0, and 0 is idle";
}

}  // namespace
}  // namespace capstan::peers
