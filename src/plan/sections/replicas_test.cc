#include <fmt/format.h>

#include "manifest/yaml.h"
#include "peers/manifest.h"
#include "plan/scalers/engine_metrics.h"
#include "plan/scalers/scalers.h"
#include "plan/sections/test_services.h"

namespace capstan::plan {
namespace {

using testing::chat_sample;
using testing::disaggregated_sample;
using testing::PlanSample;

/// Reads a manifest as a policy of a scenario does.
peers::HpaSpec as_policy(const Yaml& body) {
  const auto documents = manifest::parse_documents(body.document(), "m.yaml");
  EXPECT_TRUE(documents.has_value());
  manifest::ErrorList errors;
  const peers::HpaSpec read = peers::read_manifest(documents->front(), "m.yaml", {}, errors);
  EXPECT_TRUE(errors.ok()) << body.document();
  return read;
}

std::vector<PlanSample> every_sample() {
  std::vector<PlanSample> all;
  for (const Engine engine : {Engine::vllm, Engine::sglang, Engine::tensorrt_llm, Engine::triton}) {
    all.push_back(chat_sample(engine));
    all.push_back(disaggregated_sample(engine));
    all.push_back(testing::gang_sample(engine));
  }
  all.push_back(chat_sample());
  all.back().services.front().roles.front().minimum = 1;
  return all;
}

TEST(ReplicasSection, WritesManifestsInWhichLintFindsNothing) {
  for (const PlanSample& sample : every_sample()) testing::expect_no_findings({replicas_section(sample.facts())});
}

TEST(ReplicasSection, WritesScalersThatTheSimulatorRuns) {
  for (const PlanSample& sample : {chat_sample(), disaggregated_sample()}) {
    const Section section = replicas_section(sample.facts());
    for (const RoleFleet& role : sample.services.front().roles) {
      const std::string name = workload_name(sample.spec.services.front(), role.role);
      for (const std::string_view folder : {"keda", "hpa"}) {
        const Yaml* body = testing::find_body(section, fmt::format("replicas/{}/{}.yaml", folder, name));
        ASSERT_NE(body, nullptr) << name;
        const peers::HpaSpec read = as_policy(*body);
        EXPECT_EQ(read.min_replicas, role.minimum);
        EXPECT_EQ(read.max_replicas, role.maximum);
        for (const peers::HpaMetric& metric : read.metrics) EXPECT_FALSE(metric.query.bad_signal());
      }
    }
  }
}

TEST(ReplicasSection, ScalesPrefillAndDecodeByTheirOwnSeries) {
  const Section section = replicas_section(disaggregated_sample().facts());
  const auto text_of = [&](const std::string& file) { return testing::find_body(section, file)->document(); };
  const std::string prefill = text_of("replicas/keda/chat-prefill.yaml");
  EXPECT_NE(prefill.find(R"(sum(vllm:num_requests_waiting{namespace=\"llm\",app_kubernetes_io_name=\"chat\",)"
                         R"(capstan_dev_role=\"prefill\"}))"),
            prefill.npos)
      << prefill;
  EXPECT_EQ(prefill.find("kv_cache_usage"), prefill.npos);
  const std::string decode = text_of("replicas/keda/chat-decode.yaml");
  EXPECT_NE(decode.find("sum(vllm:kv_cache_usage_perc{"), decode.npos);
  EXPECT_EQ(testing::value_of_statement(section, "chat-prefill signal"), "queue depth");
  EXPECT_EQ(testing::value_of_statement(section, "chat-decode signal"), "KV pressure");
}

TEST(ReplicasSection, WritesAScaledObject) {
  const Section section = replicas_section(chat_sample().facts());
  EXPECT_EQ(testing::find_body(section, "replicas/keda/chat.yaml")->document(),
            R"yaml(apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata:
  name: chat
  namespace: llm
spec:
  scaleTargetRef:
    apiVersion: apps/v1
    kind: Deployment
    name: chat
  pollingInterval: 15
  minReplicaCount: 3
  maxReplicaCount: 8
  # without metrics: the most that were ready at once in the simulations, or more if more are there
  fallback:
    failureThreshold: 3
    replicas: 7
    behavior: currentReplicasIfHigher
  advanced:
    horizontalPodAutoscalerConfig:
      behavior:
        scaleUp:
          # the target is a sum divided by replicas, so a replica that starts changes nothing
          stabilizationWindowSeconds: 0
          policies:
          - type: Pods
            value: 5
            periodSeconds: 60
        scaleDown:
          # a replica that is removed too early takes up to 12 min to come back
          stabilizationWindowSeconds: 1440
          policies:
          - type: Pods
            value: 1
            periodSeconds: 60
  # the trigger that asks for the most replicas decides
  triggers:
  - type: prometheus
    name: waiting
    metricType: AverageValue
    metadata:
      serverAddress: http://prometheus-operated.monitoring.svc:9090
      query: "sum(vllm:num_requests_waiting{namespace=\"llm\",app_kubernetes_io_name=\"chat\"})"
      # waiting requests per replica
      threshold: "11"
      # no data is an error, which leads to the fallback, and not a load of 0
      ignoreNullValues: "false"
  - type: prometheus
    name: in-flight
    metricType: AverageValue
    metadata:
      serverAddress: http://prometheus-operated.monitoring.svc:9090
      query: "sum(vllm:num_requests_running{namespace=\"llm\",app_kubernetes_io_name=\"chat\"}) + )yaml"
            R"yaml(sum(vllm:num_requests_waiting{namespace=\"llm\",app_kubernetes_io_name=\"chat\"})"
      # running and waiting requests per replica
      threshold: "104"
      # no data is an error, which leads to the fallback, and not a load of 0
      ignoreNullValues: "false"
)yaml");
}

TEST(ReplicasSection, WritesAnHpaAndTheRulesOfItsMetrics) {
  const Section section = replicas_section(chat_sample().facts());
  EXPECT_EQ(testing::find_body(section, "replicas/hpa/chat.yaml")->document(), R"yaml(apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: chat
  namespace: llm
spec:
  scaleTargetRef:
    apiVersion: apps/v1
    kind: Deployment
    name: chat
  minReplicas: 3
  maxReplicas: 8
  # the metric that asks for the most replicas decides
  metrics:
  - type: External
    external:
      metric:
        name: vllm_num_requests_running
        selector:
          matchLabels:
            app_kubernetes_io_name: chat
      target:
        type: AverageValue
        averageValue: "104"
  - type: External
    external:
      metric:
        name: vllm_num_requests_waiting
        selector:
          matchLabels:
            app_kubernetes_io_name: chat
      target:
        type: AverageValue
        averageValue: "11"
  behavior:
    scaleUp:
      # the target is a sum divided by replicas, so a replica that starts changes nothing
      stabilizationWindowSeconds: 0
      policies:
      - type: Pods
        value: 5
        periodSeconds: 60
    scaleDown:
      # a replica that is removed too early takes up to 12 min to come back
      stabilizationWindowSeconds: 1440
      policies:
      - type: Pods
        value: 1
        periodSeconds: 60
)yaml");
  EXPECT_EQ(testing::find_body(section, "replicas/values/prometheus-adapter.yaml")->document(), R"yaml(prometheus:
  url: http://prometheus-operated.monitoring.svc
  port: 9090
rules:
  default: false
  # names without a colon, because the metrics API refuses it
  external:
  - seriesQuery: "vllm:num_requests_waiting{namespace!=\"\"}"
    resources:
      overrides:
        namespace:
          resource: namespace
    name:
      as: vllm_num_requests_waiting
    metricsQuery: "sum(<<.Series>>{<<.LabelMatchers>>})"
  - seriesQuery: "vllm:num_requests_running{namespace!=\"\"}"
    resources:
      overrides:
        namespace:
          resource: namespace
    name:
      as: vllm_num_requests_running
    metricsQuery: "sum(<<.Series>>{<<.LabelMatchers>>})"
  - seriesQuery: "vllm:kv_cache_usage_perc{namespace!=\"\"}"
    resources:
      overrides:
        namespace:
          resource: namespace
    name:
      as: vllm_kv_cache_usage_perc
    metricsQuery: "sum(<<.Series>>{<<.LabelMatchers>>})"
  - seriesQuery: "vllm:generation_tokens_total{namespace!=\"\"}"
    resources:
      overrides:
        namespace:
          resource: namespace
    name:
      as: vllm_generation_tokens
    metricsQuery: "sum(rate(<<.Series>>{<<.LabelMatchers>>}[5m]))"
)yaml");
}

TEST(ReplicasSection, ScalesMixedWorkOnItsGoodput) {
  testing::PlanSample sample = chat_sample();
  sample.spec.asked.scale_on = "goodput";
  const Section section = replicas_section(sample.facts());
  const std::string keda = testing::find_body(section, "replicas/keda/chat.yaml")->document();
  EXPECT_NE(keda.find("sum(rate(vllm:generation_tokens_total{"), keda.npos) << keda;
  EXPECT_NE(keda.find("name: waiting"), keda.npos) << keda;
  EXPECT_EQ(keda.find("kv_cache_usage"), keda.npos) << keda;
  const std::string hpa = testing::find_body(section, "replicas/hpa/chat.yaml")->document();
  EXPECT_NE(hpa.find("name: vllm_generation_tokens\n"), hpa.npos) << hpa;
  EXPECT_EQ(hpa.find("kv_cache_usage"), hpa.npos) << hpa;
  EXPECT_TRUE(testing::value_of_statement(section, "chat target of goodput per replica").ends_with(" tokens/s"));
}

TEST(ReplicasSection, SaysWhichSignalTheInferenceScalerHas) {
  testing::PlanSample sample = chat_sample();
  const auto statement = [&] {
    const Section section = replicas_section(sample.facts());
    return *std::ranges::find(section.statements, "chat signal of the InferenceScaler", &Statement::name);
  };
  EXPECT_EQ(statement().value, "composite goodput");
  EXPECT_EQ(statement().visibility, Visibility::details);
  sample.spec.asked.scale_on = "kv";
  EXPECT_NE(statement().why.find("although asked.scale_on is kv"), std::string::npos);
  EXPECT_EQ(statement().visibility, Visibility::page);
  sample.spec.services[0].goodput_per_s = 2;
  EXPECT_NE(statement().why.find("no key for slo.goodput_per_second"), std::string::npos);
}

TEST(ReplicasSection, WritesAnInferenceScaler) {
  const Section section = replicas_section(disaggregated_sample().facts());
  EXPECT_EQ(testing::find_body(section, "replicas/capstan/chat.yaml")->document(),
            R"yaml(apiVersion: capstan.dev/v1alpha1
kind: InferenceScaler
metadata:
  name: chat
  namespace: llm
spec:
  model: meta-llama/Llama-3.3-70B-Instruct
  engine: vllm
  slo:
    ttft: "2s"
    tpot: "80ms"
    attainment: "99%"
  roles:
  - role: prefill
    variants:
    - targetRef:
        apiVersion: apps/v1
        kind: Deployment
        name: chat-prefill
      minReplicas: 2
      maxReplicas: 6
      gpu: h100_sxm
      engineProfile:
        model: Llama-3.3-70B
        dtype: fp8
  - role: decode
    variants:
    - targetRef:
        apiVersion: apps/v1
        kind: Deployment
        name: chat-decode
      minReplicas: 2
      maxReplicas: 8
      gpu: h100_sxm
      engineProfile:
        model: Llama-3.3-70B
        dtype: fp8
  # composite goodput: replicas for the load / what one delivers within every bound of the SLO
  policy: Capstan
  # takes effect when the FleetPolicy sets layers.replicas to Active
  mode: Active
)yaml");
}

TEST(ReplicasSection, DoesNotRoundSharesUp) {
  testing::PlanSample sample = chat_sample();
  sample.spec.services[0].slo.attainment_ppm = 999'500;
  ScalerVariant& hpa = sample.services[0].variants.emplace_back();
  hpa.kind = ScalerKind::hpa;
  hpa.roles.resize(1);
  hpa.seeds.emplace_back().attainment_ppm = 999'960;
  const Section section = replicas_section(sample.facts());
  const std::string scaler = testing::find_body(section, "replicas/capstan/chat.yaml")->document();
  EXPECT_NE(scaler.find("attainment: \"99.95%\""), scaler.npos) << scaler;
  EXPECT_TRUE(testing::value_of_statement(section, "chat HPA").starts_with("99.9 % met"));
}

TEST(ReplicasSection, AppliesOneScalerForEachTarget) {
  for (const Manifest& manifest : replicas_section(chat_sample().facts()).manifests) {
    const Yaml* kind = manifest.body.find("kind");
    if (kind == nullptr || kind->text() == "PodMonitor") continue;
    const std::string folder = kind->text() == "ScaledObject"              ? "replicas/keda/"
                               : kind->text() == "HorizontalPodAutoscaler" ? "replicas/hpa/"
                                                                           : "replicas/capstan/";
    EXPECT_TRUE(manifest.file.starts_with(folder)) << manifest.file;
  }
}

}  // namespace
}  // namespace capstan::plan
