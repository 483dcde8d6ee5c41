#include "plan/against/terms.h"

#include <gtest/gtest.h>

namespace capstan::plan {
namespace {

Yaml term_object(const std::string& text) { return yaml_of(manifest::parse(text, "a.yaml").value()); }

constexpr const char* kPlannedWorkload =
    "{apiVersion: apps/v1, kind: Deployment, metadata: {name: chat, namespace: inference}, spec: {template: {metadata: "
    "{labels: {app.kubernetes.io/name: chat}}, spec: {containers: [{name: engine, resources: {limits: "
    "{nvidia.com/gpu: 1}}, ports: [{name: http, containerPort: 8000}]}]}}}}";

constexpr const char* kExistingWorkload =
    "{apiVersion: apps/v1, kind: Deployment, metadata: {name: llm, namespace: prod}, spec: {selector: {matchLabels: "
    "{app.kubernetes.io/name: llm}}, template: {metadata: {labels: {app.kubernetes.io/name: llm}}, spec: {containers: "
    "[{name: vllm, resources: {limits: {nvidia.com/gpu: 1}}, ports: [{name: web, containerPort: 9000}]}]}}}}";

Terms terms_of_workloads() {
  const Manifest planned{.file = "a.yaml", .body = term_object(kPlannedWorkload)};
  const ExistingObject existing{"old.yaml", manifest::parse(kExistingWorkload, "old.yaml").value()};
  return terms_of({{nullptr, &planned, &existing}});
}

TEST(Terms, QueriesReadTheNamespaceAndTheLabelThatExist) {
  const Yaml scaler = term_object(
      R"({query: 'sum(a{namespace="inference",app_kubernetes_io_name="chat"})', app_kubernetes_io_name: chat})");
  EXPECT_EQ(
      in_terms(scaler, terms_of_workloads()).flow(),
      R"#({"query": "sum(a{namespace=\"prod\",app_kubernetes_io_name=\"llm\"})", "app_kubernetes_io_name": "llm"})#");
}

TEST(Terms, ProbesAndPortsAreThoseOfTheExistingEngine) {
  const Yaml pod = term_object(
      "{metadata: {name: chat}, probe: {port: http}, ports: [{containerPort: 8000}], selector: "
      "{app.kubernetes.io/name: chat}}");
  EXPECT_EQ(
      in_terms(pod, terms_of_workloads()).flow(),
      R"({"metadata": {"name": "chat"}, "probe": {"port": "web"}, "ports": [{"containerPort": 9000}], "selector": )"
      R"({"app.kubernetes.io/name": "llm"}})");
  EXPECT_EQ(in_terms(term_object("{metadata: {name: other}, port: http}"), terms_of_workloads()).flow(),
            R"({"metadata": {"name": "other"}, "port": "http"})");
}

TEST(Terms, KeepReasons) {
  Yaml object;
  object["spec"].set("namespace", "inference", "where the engines are");
  EXPECT_EQ(in_terms(object, terms_of_workloads()).find("spec")->find("namespace")->comment(), "where the engines are");
}

TEST(Terms, SayWhatToWriteInAFileOfThePlan) {
  EXPECT_EQ(how_to_adapt(term_object("{metadata: {name: chat, namespace: inference}, spec: {selector: "
                                     "{app.kubernetes.io/name: chat}}}"),
                         terms_of_workloads()),
            "before you apply it, write the namespace prod in place of inference, app.kubernetes.io/name: llm in place "
            "of chat");
  EXPECT_EQ(how_to_adapt(term_object("{metadata: {name: gpu}}"), terms_of_workloads()), "");
}

TEST(Terms, ThePlanReadsTheTokenFromTheSecretThatExists) {
  const Manifest planned{.file = "a.yaml", .body = term_object(kPlannedWorkload)};
  const ExistingObject existing{
      "old.yaml", manifest::parse("{kind: Deployment, spec: {template: {spec: {containers: [{name: vllm, env: [{name: "
                                  "HF_TOKEN, valueFrom: {secretKeyRef: {name: mine, key: hf}}}]}]}}}}",
                                  "old.yaml")
                      .value()};
  const Terms terms = terms_of({{nullptr, &planned, &existing}});
  const Yaml pod = term_object(
      "{env: [{name: HF_TOKEN, valueFrom: {secretKeyRef: {name: hugging-face, key: token}}}, {name: A, value: b}]}");
  EXPECT_EQ(in_terms(pod, terms).flow(),
            R"({"env": [{"name": "HF_TOKEN", "valueFrom": {"secretKeyRef": {"name": "mine", "key": "hf"}}}, )"
            R"({"name": "A", "value": "b"}]})");
  EXPECT_EQ(how_to_adapt(pod, terms), "before you apply it, write the key hf of the Secret mine for the token");
}

TEST(Terms, ANoteSaysThatTheSpecHasAnotherNamespace) {
  Plan plan;
  plan.spec.file = "spec.yaml";
  plan.sections.push_back({.key = "workload"});
  plan.sections[0].manifests.push_back({.file = "a.yaml", .body = term_object(kPlannedWorkload)});
  const std::vector<ExistingObject> existing = {{"old.yaml", manifest::parse(kExistingWorkload, "old.yaml").value()}};
  const auto notes = comparison_notes(plan, existing);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes[0],
            "Deployment llm is in the namespace prod, the plan's objects are in inference; write `namespace: prod` in "
            "spec.yaml, so that the plan's files fit");
}

}  // namespace
}  // namespace capstan::plan
