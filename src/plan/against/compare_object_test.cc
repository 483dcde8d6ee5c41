#include "plan/against/compare_object.h"

#include <gtest/gtest.h>

namespace capstan::plan {
namespace {

Yaml yaml(const std::string& text) { return yaml_of(manifest::parse(text, "plan.yaml").value()); }

std::vector<Difference> compare(const std::string& planned, const std::string& existing, const Renames& renames = {}) {
  const ExistingObject object{"old.yaml", manifest::parse(existing, "old.yaml").value()};
  return compare_object({.file = "plan.yaml", .body = yaml(planned)}, object, renames);
}

TEST(CompareObject, FindsNothingInTheSameObjectInAnotherOrder) {
  EXPECT_TRUE(compare("{kind: NodePool, spec: {budgets: [{nodes: '0', reasons: [Drifted]}, {nodes: '1', reasons: "
                      "[Drifted]}], values: [a, b], time: 1h}}",
                      "{kind: NodePool, spec: {budgets: [{nodes: '1', reasons: [Drifted]}, {nodes: '0', reasons: "
                      "[Drifted]}], values: [b, a], time: 60m}}")
                  .empty());
}

TEST(CompareObject, NamesAnOldMetricThatShouldGo) {
  const auto changes = compare(
      "{kind: HorizontalPodAutoscaler, spec: {metrics: [{type: External, external: {metric: {name: "
      "vllm_num_requests_waiting}}}, {type: External, external: {metric: {name: vllm_kv_cache_usage_perc}}}]}}",
      "{kind: HorizontalPodAutoscaler, spec: {metrics: [{type: Pods, pods: {metric: {name: "
      "'vllm:num_requests_waiting'}}}, {type: External, external: {metric: {name: vllm_kv_cache_usage_perc}}}]}}");
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_EQ(changes[0].path, "spec.metrics.vllm_num_requests_waiting");
  EXPECT_EQ(changes[0].kind, Difference::Kind::set);
  EXPECT_EQ(changes[1].path, "spec.metrics.vllm:num_requests_waiting");
  EXPECT_EQ(changes[1].kind, Difference::Kind::remove);
  EXPECT_NE(changes[1].why.find("the same signal as a sum"), std::string::npos);
}

TEST(CompareObject, LeavesNamesAndReferencesAlone) {
  EXPECT_TRUE(compare("{kind: NodePool, spec: {nodeClassRef: {name: h100}, pool: h100}}",
                      "{kind: NodePool, spec: {nodeClassRef: {name: gpu}, pool: gpu}}", {{"h100", "gpu"}})
                  .empty());
  EXPECT_TRUE(compare("{kind: PodMonitor, spec: {selector: {matchLabels: {app: chat}}}}",
                      "{kind: PodMonitor, spec: {selector: {matchLabels: {app: llm}}}}")
                  .empty());
  EXPECT_TRUE(compare(R"({kind: ScaledObject, spec: {triggers: [{metadata: {query: 'sum(a{namespace="llm"})'}}]}})",
                      R"({kind: ScaledObject, spec: {triggers: [{metadata: {query: 'sum(a{namespace="x"} )'}}]}})",
                      {{"llm", "x"}})
                  .empty());
}

TEST(CompareObject, ReplacesTheValuesOfARequirementAtOnce) {
  const auto changes =
      compare("{kind: NodePool, spec: {requirements: [{key: type, values: [p5.48xlarge]}]}}",
              "{kind: NodePool, spec: {requirements: [{key: type, values: [p4d.24xlarge, g5.xlarge]}]}}");
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].found->flow(), R"(["p4d.24xlarge", "g5.xlarge"])");
  EXPECT_EQ(changes[0].planned->flow(), R"(["p5.48xlarge"])");
}

TEST(CompareObject, MatchesArgumentsByTheirFlag) {
  const auto changes = compare("{kind: Deployment, spec: {args: [--port=8000, --max-num-seqs=64]}}",
                               "{kind: Deployment, spec: {args: [--max-num-seqs=256]}}");
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_EQ(changes[0].path, "spec.args.--port");
  EXPECT_FALSE(changes[0].found);
  EXPECT_EQ(changes[1].path, "spec.args.--max-num-seqs");
  EXPECT_EQ(changes[1].found->text(), "--max-num-seqs=256");
}

/// Returns the paths of the changes of a Deployment with these containers.
std::vector<std::string> changed_paths(const std::string& planned, const std::string& existing) {
  const auto deployment = [](const std::string& pod) {
    return "{kind: Deployment, spec: {template: {spec: " + pod + "}}}";
  };
  std::vector<std::string> out;
  for (const Difference& change : compare(deployment(planned), deployment(existing))) out.push_back(change.path);
  return out;
}

TEST(CompareObject, AddsNoSecondEngine) {
  const std::string gpu = "resources: {limits: {nvidia.com/gpu: 1}}";
  EXPECT_EQ(changed_paths("{containers: [{name: engine, image: 'vllm/vllm-openai:v2', args: [--max-num-seqs=256, "
                          "--port=8000], " +
                              gpu + "}]}",
                          "{containers: [{name: proxy, image: envoy}, {name: vllm, image: 'reg.corp/vllm-openai:v1', "
                          "command: [vllm, serve, a], args: [--max-num-seqs, '64'], " +
                              gpu + "}]}"),
            (std::vector<std::string>{"spec.template.spec.containers.vllm.image",
                                      "spec.template.spec.containers.vllm.args.--max-num-seqs"}));
  const auto image =
      compare("{kind: A, spec: {containers: [{name: engine, image: 'vllm/vllm-openai:v2', " + gpu + "}]}}",
              "{kind: A, spec: {containers: [{name: vllm, image: 'reg.corp/vllm-openai:v1', " + gpu + "}]}}");
  ASSERT_EQ(image.size(), 1u);
  EXPECT_EQ(image[0].planned->text(), "reg.corp/vllm-openai:v2") << "the registry stays";
}

TEST(CompareObject, MixesNoOptionsOfTwoEngines) {
  const auto changes = compare(
      "{kind: A, spec: {containers: [{name: engine, image: 'vllm/vllm-openai:v2', args: [--max-num-seqs=256], "
      "resources: "
      "{limits: {nvidia.com/gpu: 1}}}]}}",
      "{kind: A, spec: {containers: [{name: engine, image: 'lmsysorg/sglang:v1', args: [--tp=1], resources: {limits: "
      "{nvidia.com/gpu: 1}}}]}}");
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].path, "spec.containers.engine.image");
  EXPECT_NE(changes[0].caution.find("replace command and args"), std::string::npos);
}

TEST(CompareObject, LeavesThePortsOfAServiceAndAddsNoSecondPort) {
  EXPECT_TRUE(compare("{kind: Service, spec: {ports: [{name: http, port: 80, targetPort: http}]}}",
                      "{kind: Service, spec: {ports: [{name: http, port: 8000, targetPort: 8000}]}}")
                  .empty());
  EXPECT_EQ(changed_paths("{containers: [{name: engine, ports: [{name: http, containerPort: 8000}]}]}",
                          "{containers: [{name: engine, ports: [{containerPort: 8000}]}]}"),
            std::vector<std::string>{"spec.template.spec.containers.engine.ports.http.name"});
}

TEST(CompareObject, ReplacesWhatKubernetesAllowsOnce) {
  EXPECT_EQ(changed_paths("{volumes: [{name: models, hostPath: {path: /a}}]}",
                          "{volumes: [{name: models, persistentVolumeClaim: {claimName: a}}]}"),
            std::vector<std::string>{"spec.template.spec.volumes.models"});
  EXPECT_EQ(changed_paths("{containers: [{name: engine, volumeMounts: [{name: models, mountPath: /models}]}]}",
                          "{containers: [{name: engine, volumeMounts: [{name: cache, mountPath: /models}]}]}"),
            std::vector<std::string>{"spec.template.spec.containers.engine.volumeMounts.models.name"});
}

TEST(CompareObject, LeavesTheValueOfATaintAndDefaultsOfKeda) {
  EXPECT_TRUE(compare("{kind: NodePool, spec: {template: {spec: {taints: [{key: gpu, value: present}]}}}}",
                      "{kind: NodePool, spec: {template: {spec: {taints: [{key: gpu, value: 'true'}]}}}}")
                  .empty());
  EXPECT_TRUE(compare("{kind: ScaledObject, spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: a}}}",
                      "{kind: ScaledObject, spec: {scaleTargetRef: {name: b}}}")
                  .empty());
}

TEST(CompareObject, SeesAStructureWhereAScalarIsPlanned) {
  const auto changes = compare("{kind: A, spec: {limits: {gpu: 8}}}", "{kind: A, spec: {limits: none}}");
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].planned->flow(), R"({"gpu": 8})");
}

}  // namespace
}  // namespace capstan::plan
