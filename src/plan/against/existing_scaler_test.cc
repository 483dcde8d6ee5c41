#include "plan/against/existing_scaler.h"

#include <gtest/gtest.h>

namespace capstan::plan {
namespace {

Plan plan_with(ScalerKind scaler) {
  Plan plan;
  plan.spec.namespace_ = "inference";
  plan.spec.services = {{.name = "chat", .model = "Llama-3.1-8B"}};
  ServicePlan service{.service = "chat", .scaler = scaler};
  service.mean_load.peak_per_s = 8.284;
  service.roles = {{.machine = {.name = "a3-highgpu-1g", .gpus = 1}, .minimum = 2, .maximum = 2}};
  service.roles.front().engine.tp = 1;
  service.seeds = {{.seed = 1}};
  service.scenario = R"(name: tried
load: {generator: {rate: 2, input: 200, output: 50}, duration: 10m}
service:
  model: Llama-3.1-8B
  gpu: H100
  slo: {ttft: 1s}
  replicas: {min: 1, max: 4}
cluster:
  pools: [{name: h100, gpu_limit: 4, offerings: [{instance: a3-highgpu-1g, usd_per_hour: 11.0612}]}]
  existing: [{instance: a3-highgpu-1g, usd_per_hour: 11.0612, pool: h100}]
policies: [{name: own, scale: capstan, place: gang, provision: group}]
)";
  plan.services.push_back(std::move(service));
  return plan;
}

/// Returns a ScaledObject in another namespace than the plan's.
std::vector<ExistingObject> scaled_object(const std::string& query) {
  const std::string file = ::testing::TempDir() + "existing_scaler.yaml";
  const std::string text = R"(apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: chat, namespace: llm}
spec:
  scaleTargetRef: {name: chat}
  minReplicaCount: 1
  maxReplicaCount: 3
  triggers:
  - type: prometheus
    metadata: {serverAddress: "http://prometheus:9090", threshold: "4", query: ')" +
                           query + "'}\n";
  std::FILE* out = std::fopen(file.c_str(), "w");
  std::fputs(text.c_str(), out);
  std::fclose(out);
  return {{file, *manifest::parse(text, file)}};
}

TEST(AgainstExistingScaler, FindsTheSeriesUnderTheLabelsThatItsQueriesName) {
  const std::string query = R"(sum(vllm:num_requests_running{namespace="llm",app="vllm-chat",model_name="llama"}))";
  const auto found = simulate_existing(plan_with(ScalerKind::capstan), scaled_object(query), {});
  ASSERT_TRUE(found) << found.error().text();
  ASSERT_EQ(found->size(), 1u);
  EXPECT_EQ(found->front().refusal_reason, "");
  EXPECT_GT(found->front().attainment_ppm, 0);
}

TEST(AgainstExistingScaler, SaysWhichQueryFindsNothing) {
  const auto found = simulate_existing(plan_with(ScalerKind::capstan), scaled_object("sum(own_metric)"), {});
  ASSERT_TRUE(found) << found.error().text();
  ASSERT_EQ(found->size(), 1u);
  const std::string& reason = found->front().refusal_reason;
  EXPECT_NE(reason.find("never found a series: sum(own_metric)"), reason.npos) << reason;
  EXPECT_EQ(reason.find("of the policy"), reason.npos) << reason;
}

TEST(AgainstExistingScaler, AConstantFleetNeedsNoAutoscaler) {
  const ExistingScaler scaler{.service = "chat", .object = "ScaledObject chat"};
  EXPECT_TRUE(notes_on_constant_fleets(plan_with(ScalerKind::capstan), {scaler}).empty());
  const auto notes = notes_on_constant_fleets(plan_with(ScalerKind::constant), {scaler});
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(
      notes[0],
      "the plan needs no autoscaler for chat up to 8.28 requests/s in the busiest 5 minutes; to follow it, delete "
      "ScaledObject chat and set spec.replicas of its workload to 2. The changes of ScaledObject chat below are "
      "for a higher load");
}

}  // namespace
}  // namespace capstan::plan
