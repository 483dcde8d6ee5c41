#include "peers/manifest.h"

#include <gtest/gtest.h>

#include "peers/peer_fixture.h"

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

constexpr PodResources kPod{
    .cpu_milli = 4000, .memory_milli = 64'000'000'000'000, .memory_used_milli = 16'000'000'000'000};

std::string error_of(std::string text, const std::string& from, const std::string& to, const PodResources& pod = {}) {
  text.replace(text.find(from), from.size(), to);
  manifest::ErrorList errors;
  const Result<manifest::Node> root = manifest::parse(text, "m.yaml");
  read_manifest(*root, "m.yaml", pod, errors);
  return errors.error ? errors.error->text() : "";
}

HpaSpec read(const std::string& text, const PodResources& pod = {}) {
  manifest::ErrorList errors;
  const Result<manifest::Node> root = manifest::parse(text, "m.yaml");
  HpaSpec spec = read_manifest(*root, "m.yaml", pod, errors);
  EXPECT_TRUE(errors.ok()) << errors.error->text();
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

TEST(Manifest, AnErrorNamesItsPlace) {
  EXPECT_EQ(error_of(kHpa, "name: vllm_num_requests_running", "name: queue").substr(0, 62),
            "m.yaml:11:27: pods.metric.name: found \"queue\", expected one of");
  EXPECT_NE(error_of(kHpa, "type: External", "type: Node").find("m.yaml:12:11: metrics.type: found \"Node\""),
            std::string::npos);
  EXPECT_NE(error_of(kHpa, "minReplicas: 2", "minReplica: 2").find("did you mean"), std::string::npos);
  EXPECT_NE(error_of(kScaledObject, "sum(vllm", "sum(rate(vllm").find("m.yaml:12:51: query:1:10"), std::string::npos)
      << error_of(kScaledObject, "sum(vllm", "sum(rate(vllm");
  EXPECT_NE(error_of(kScaledObject, "type: prometheus", "type: kafka").find("triggers.type: found \"kafka\""),
            std::string::npos);
  EXPECT_NE(error_of(kScaledObject, "\"20\"", "\"0\"").find("expected more than 0"), std::string::npos);
}

TEST(Manifest, TheAutoscalerIsFoundAmongOtherDocuments) {
  constexpr const char* kDeployment = "apiVersion: apps/v1\nkind: Deployment\n---\n";
  constexpr const char* kAutoscaler = "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\n";
  const struct {
    const char* teaches;
    std::string text;
    const char* found;  ///< its kind, or the error
  } rows[] = {
      {"the only document", kAutoscaler, "HorizontalPodAutoscaler"},
      {"after the workload that it scales", std::string(kDeployment) + kAutoscaler, "HorizontalPodAutoscaler"},
      {"a single document of another kind is left to its reader", "kind: Deployment\n", "Deployment"},
      {"no autoscaler", std::string(kDeployment) + "kind: Service\n",
       "m.yaml: found no autoscaler, expected a HorizontalPodAutoscaler or a ScaledObject"},
      {"two autoscalers", std::string(kAutoscaler) + "---\nkind: ScaledObject\n",
       "m.yaml:4:1: found a second autoscaler, expected one per file; the first is on line 1"},
  };
  for (const auto& row : rows) {
    manifest::ErrorList errors;
    const auto documents = manifest::parse_documents(row.text, "m.yaml");
    ASSERT_TRUE(documents) << row.teaches;
    const manifest::Node* found = find_autoscaler(*documents, "m.yaml", errors);
    EXPECT_EQ(found == nullptr ? errors.error->text() : found->find("kind")->text, row.found) << row.teaches;
  }
}

TEST(Hpa, TheHighestMetricWinsAndASilentOnePreventsScaleDown) {
  HpaAutoscaler hpa(read(kHpa));
  PeerFixture at;
  at.serve(4, 30);
  at.scrape("vllm:num_requests_running", 30, {});
  EXPECT_EQ(hpa.recommend(at.view(), Instant{0s}).replicas, 4) << "the window of scaleUp holds the previous count";
  EXPECT_EQ(hpa.recommend(at.view(), Instant{45s}).replicas, 6) << "30 / 20 * 4, at most two more per minute";
  at.serve(6, 1);
  at.scrape("vllm:num_requests_running", 1, Instant{60s});
  const Recommendation held = hpa.recommend(at.view(), Instant{120s});
  EXPECT_EQ(held.replicas, 6);
  EXPECT_EQ(held.why, "a metric has no reading, which prevents a scale-down");
  ASSERT_EQ(hpa.warnings().size(), 1u);
  EXPECT_NE(hpa.warnings()[0].find("never found a series"), std::string::npos);
}

constexpr const char* kOnCpu = R"yaml(
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
spec:
  minReplicas: 1
  maxReplicas: 10
  metrics:
  - type: Resource
    resource: {name: cpu, target: {type: Utilization, averageUtilization: 20}}
)yaml";

TEST(Manifest, CpuAndMemoryComeFromTheScenario) {
  EXPECT_NE(
      error_of(kOnCpu, "1", "1").find("m.yaml:9:22: cpu: a utilization is a share of the pod's request, expected"),
      std::string::npos);
  EXPECT_NE(error_of(kOnCpu, "name: cpu", "name: memory", {.cpu_milli = {}, .memory_milli = 1, .memory_used_milli = {}})
                .find("memory: expected scale.pod.memory_used"),
            std::string::npos);
  EXPECT_NE(error_of(kOnCpu, "type: Utilization, averageUtilization: 20", "type: Value, value: 2", kPod)
                .find("resource.target: found a wrong type, expected Utilization or AverageValue"),
            std::string::npos);
  std::string text = kOnCpu;
  text.replace(text.find("type: Resource"), 14, "type: ContainerResource");
  text.replace(text.find("resource: {"), 11, "containerResource: {container: vllm, ");
  EXPECT_EQ(read(text, kPod).metrics, read(kOnCpu, kPod).metrics);
}

TEST(Hpa, OneCoreOfFourIsBusyForAnyBatch) {
  HpaAutoscaler hpa(read(kOnCpu, kPod));
  PeerFixture at;
  at.serve(4, 30);
  at.role.replicas[3].phase = model::Gang::Phase::starting;
  at.scrape("DCGM_FI_DEV_GPU_UTIL", 100, {});
  const Recommendation answer = hpa.recommend(at.view(), Instant{0s});
  EXPECT_EQ(answer.replicas, 4) << "25 % against 20 % would add a quarter, but the starting pod counts as idle";
  at.role.replicas[3].phase = model::Gang::Phase::ready;
  EXPECT_EQ(hpa.recommend(at.view(), Instant{15s}).replicas, 5);
  ASSERT_EQ(hpa.warnings().size(), 1u);
  EXPECT_EQ(hpa.warnings()[0].substr(0, 44), "cpu shows whether an engine has any request:");
}

TEST(Hpa, MemoryNeverChanges) {
  std::string text = kOnCpu;
  text.replace(text.find("cpu"), 3, "memory");
  HpaAutoscaler hpa(read(text, kPod));
  PeerFixture at;
  at.serve(4, 0);
  EXPECT_EQ(hpa.recommend(at.view(), Instant{0s}).replicas, 5) << "25 % against 20 %";
  at.serve(5, 100);
  EXPECT_EQ(hpa.recommend(at.view(), Instant{15s}).replicas, 7) << "and so on without end";
}

TEST(Keda, CpuGoesToTheHpaAndCannotWakeFromZero) {
  constexpr const char* kTriggers = "  triggers:\n";
  std::string text = kScaledObject;
  text.replace(text.find("minReplicaCount: 0"), 18, "minReplicaCount: 1");
  const std::string cpu = "  triggers:\n  - {type: cpu, metricType: Utilization, metadata: {value: \"20\"}}\n";
  EXPECT_NE(error_of(kScaledObject, kTriggers, cpu, kPod).find("expected a minReplicaCount of at least 1"),
            std::string::npos);
  text.replace(text.find(kTriggers), std::string(kTriggers).size(), cpu);
  HpaAutoscaler keda(read(text, kPod));
  PeerFixture at;
  at.serve(4, 1);
  at.scrape("DCGM_FI_DEV_GPU_UTIL", 100, {});
  at.scrape("vllm:num_requests_running", 1, {});
  EXPECT_EQ(keda.recommend(at.view(), Instant{0s}).replicas, 5);
  for (const char* odd : {"\"500m\"", "\"0.5\"", "\"0\"", "\"-20\"", "\"20%\""}) {
    const std::string error = error_of(text, "\"20\"", odd, kPod);
    EXPECT_NE(error.find("metadata.value: found "), std::string::npos) << odd << ": " << error;
    EXPECT_NE(error.find("expected a whole number of percent from 1 to 100000"), std::string::npos) << odd;
  }
  EXPECT_NE(error_of(text, "value: \"20\"", "containerName: engine", kPod).find("value"), std::string::npos);
}

constexpr const char* kOfficeHours = R"yaml(
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
spec:
  minReplicaCount: 0
  maxReplicaCount: 8
  cooldownPeriod: 60
  triggers:
  - type: cron
    metadata: {timezone: Etc/UTC, start: 0 8 * * *, end: 0 18 * * *, desiredReplicas: "6"}
)yaml";

TEST(Keda, CronAsksForItsReplicasWithinItsHours) {
  HpaAutoscaler keda(read(kOfficeHours));
  PeerFixture at;
  at.serve(0, 0);
  EXPECT_EQ(keda.recommend(at.view(), Instant{7h + 59min}).replicas, 0);
  EXPECT_EQ(keda.recommend(at.view(), Instant{8h}).replicas, 1)
      << "the operator wakes one replica, and the HPA adds the others";
  at.serve(1, 0);
  EXPECT_EQ(keda.recommend(at.view(), Instant{8h + 15s}).replicas, 4) << "the limit is four more or double";
  at.serve(4, 0);
  EXPECT_EQ(keda.recommend(at.view(), Instant{8h + 30s}).replicas, 6);
  at.serve(6, 0);
  EXPECT_EQ(keda.recommend(at.view(), Instant{17h + 59min}).replicas, 6);
  EXPECT_EQ(keda.recommend(at.view(), Instant{18h + 5min}).replicas, 0);
  EXPECT_TRUE(keda.warnings().empty());
  EXPECT_NE(error_of(kOfficeHours, "Etc/UTC", "Europe/Berlin").find("metadata.timezone: found \"Europe/Berlin\""),
            std::string::npos);
  EXPECT_NE(error_of(kOfficeHours, "0 8 * * *", "8 o'clock").find("metadata.start: found "), std::string::npos);
}

TEST(Keda, CronIsActiveWhileItsNextEndComesBeforeItsNextStart) {
  const CronTrigger work_days{*Cron::parse("0 8 * * 1-5"), *Cron::parse("0 18 * * *"), 6};
  const auto thursday = [](Duration later) { return Instant{later}; };  // 1 January 1970
  EXPECT_FALSE(work_days.active(thursday(7h)));
  EXPECT_TRUE(work_days.active(thursday(8h)));
  EXPECT_FALSE(work_days.active(thursday(18h)));
  EXPECT_TRUE(work_days.active(thursday(48h + 12h))) << "a Saturday, as in KEDA";
}

TEST(Hpa, WarnsOfABadSignal) {
  std::string text = kHpa;
  text.replace(text.find("vllm_num_requests_running"), 25, "DCGM_FI_DEV_GPU_UTIL");
  const HpaAutoscaler hpa(read(text));
  EXPECT_EQ(hpa.warnings().at(0).substr(0, 20), "DCGM_FI_DEV_GPU_UTIL");
}

TEST(Keda, GoesToZeroAfterItsCooldownAndReturnsWithAnActiveTrigger) {
  HpaAutoscaler keda(read(kScaledObject));
  PeerFixture at;
  at.serve(1, 5);
  at.scrape("vllm:num_requests_running", 5, {});
  EXPECT_EQ(keda.recommend(at.view(), Instant{0s}).replicas, 1);
  at.scrape("vllm:num_requests_running", 2, Instant{15s});
  EXPECT_EQ(keda.recommend(at.view(), Instant{30s}).replicas, 1)
      << "below its activation threshold and within the cooldown";
  at.scrape("vllm:num_requests_running", 2, Instant{60s});
  EXPECT_EQ(keda.recommend(at.view(), Instant{75s}).replicas, 0);
  at.role.current = 0;
  EXPECT_EQ(keda.recommend(at.view(), Instant{90s}).replicas, 0);
  at.scrape("vllm:num_requests_running", 9, Instant{105s});
  EXPECT_EQ(keda.recommend(at.view(), Instant{105s}).replicas, 1);
}

TEST(Keda, AGapInTheScrapesLooksLikeNoLoad) {
  HpaAutoscaler keda(read(kScaledObject));
  PeerFixture at;
  at.serve(6, 20);
  at.scrape("vllm:num_requests_running", 20, {});
  EXPECT_EQ(keda.recommend(at.view(), Instant{0s}).replicas, 6);
  for (int s = 15; s <= 600; s += 15) keda.recommend(at.view(), Instant{std::chrono::seconds(s)});
  EXPECT_EQ(keda.recommend(at.view(), Instant{630s}).replicas, 0) << "a gap of ten minutes counts as 0, which is idle";
}

}  // namespace
}  // namespace capstan::peers
