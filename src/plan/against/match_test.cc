#include "plan/against/match.h"

#include <gtest/gtest.h>

namespace capstan::plan {
namespace {

ExistingObject existing_one(const std::string& text) { return {"old.yaml", manifest::parse(text, "old.yaml").value()}; }

Plan plan_with(const std::vector<std::string>& objects) {
  Plan plan;
  Section section{.key = "nodes"};
  for (const std::string& text : objects) {
    section.manifests.push_back({.file = "a.yaml", .body = yaml_of(manifest::parse(text, "a.yaml").value())});
  }
  plan.sections.push_back(std::move(section));
  return plan;
}

TEST(Match, DistinguishesKindsOfTwoGroups) {
  const Plan plan = plan_with({"{apiVersion: scheduling.run.ai/v2, kind: Queue, metadata: {name: production}}",
                               "{apiVersion: capstan.dev/v1alpha1, kind: Queue, metadata: {name: production}}"});
  const std::vector<ExistingObject> existing = {
      existing_one("{apiVersion: capstan.dev/v1alpha1, kind: Queue, metadata: {name: production}}")};
  const auto matches = match_objects(plan, existing);
  EXPECT_EQ(matches[0].existing, nullptr);
  EXPECT_EQ(matches[1].existing, &existing[0]);
}

TEST(Match, PairsASingleObjectOfAnotherName) {
  const Plan plan = plan_with({"{apiVersion: karpenter.sh/v1, kind: NodePool, metadata: {name: h100}}"});
  const std::vector<ExistingObject> existing = {
      existing_one("{apiVersion: karpenter.sh/v1beta1, kind: NodePool, metadata: {name: gpu}}")};
  const auto matches = match_objects(plan, existing);
  ASSERT_EQ(matches[0].existing, &existing[0]);
  EXPECT_EQ(renames_of(matches), (Renames{{"h100", "gpu"}}));
}

TEST(Match, PairsAutoscalersByTheirTarget) {
  const Plan plan = plan_with(
      {"{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: chat}, spec: {scaleTargetRef: "
       "{name: chat}}}",
       "{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: code}, spec: {scaleTargetRef: "
       "{name: code}}}"});
  const std::vector<ExistingObject> existing = {
      existing_one("{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: my-hpa}, spec: "
                   "{scaleTargetRef: {name: code}}}")};
  const auto matches = match_objects(plan, existing);
  EXPECT_EQ(matches[1].existing, &existing[0]);
  // The existing HPA scales `code`. Therefore it is not paired with the planned HPA of `chat`, although no other HPA
  // exists.
  EXPECT_EQ(matches[0].existing, nullptr);
}

constexpr const char* kPlannedChat = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: chat}}";
constexpr const char* kPlannedCode = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: code}}";

TEST(Match, PairsARenamedDeploymentAlthoughThePlanHasBalloons) {
  Plan plan = plan_with({kPlannedChat, "{apiVersion: apps/v1, kind: Deployment, metadata: {name: chat-balloon}}"});
  plan.sections[0].manifests[1].alternative = {.choice = "spare capacity", .option = "balloon"};
  const std::vector<ExistingObject> existing = {
      existing_one("{apiVersion: apps/v1, kind: Deployment, metadata: {name: vllm}}")};
  const auto matches = match_objects(plan, existing);
  EXPECT_EQ(matches[0].existing, &existing[0]);
  EXPECT_EQ(matches[1].existing, nullptr);
}

TEST(Match, PairsRenamedDeploymentsByTheModel) {
  Plan plan = plan_with({kPlannedChat, kPlannedCode});
  plan.spec.services = {{.name = "chat", .served_model_name = "meta/large"},
                        {.name = "code", .served_model_name = "meta/large-code"}};
  const std::vector<ExistingObject> existing = {
      existing_one("{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}, spec: {template: {spec: {containers: "
                   "[{args: [--model=meta/large-code]}]}}}}"),
      existing_one("{apiVersion: apps/v1, kind: Deployment, metadata: {name: b}, spec: {template: {spec: {containers: "
                   "[{command: [sh, -c, vllm serve meta/large]}]}}}}")};
  const auto matches = match_objects(plan, existing);
  EXPECT_EQ(matches[0].existing, &existing[1]);
  EXPECT_EQ(matches[1].existing, &existing[0]);
}

TEST(Match, PairsRenamedDeploymentsByTheirAutoscalers) {
  const auto scaler = [](const std::string& name, const std::string& target) {
    return "{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: " + name +
           "}, spec: {scaleTargetRef: {name: " + target + "}}}";
  };
  const Plan plan = plan_with({kPlannedChat, kPlannedCode, scaler("chat", "chat"), scaler("code", "code")});
  const std::vector<ExistingObject> existing = {
      existing_one("{apiVersion: apps/v1, kind: Deployment, metadata: {name: x}}"),
      existing_one("{apiVersion: apps/v1, kind: Deployment, metadata: {name: y}}"), existing_one(scaler("code", "x"))};
  const auto matches = match_objects(plan, existing);
  EXPECT_EQ(matches[0].existing, nullptr);
  EXPECT_EQ(matches[1].existing, &existing[0]);
}

TEST(Match, DistinguishesNamespaces) {
  const Plan plan = plan_with({"{apiVersion: v1, kind: Service, metadata: {name: chat, namespace: inference}}",
                               "{apiVersion: v1, kind: Service, metadata: {name: code, namespace: inference}}"});
  const std::vector<ExistingObject> existing = {
      existing_one("{apiVersion: v1, kind: Service, metadata: {name: chat, namespace: other}}"),
      existing_one("{apiVersion: v1, kind: Service, metadata: {name: chat}}")};
  EXPECT_EQ(match_objects(plan, existing)[0].existing, &existing[1]);
}

TEST(Match, PairsANameInAnotherNamespaceIfItIsTheOnlyOne) {
  const Plan plan = plan_with({"{apiVersion: v1, kind: Service, metadata: {name: chat, namespace: inference}}",
                               "{apiVersion: v1, kind: Service, metadata: {name: code, namespace: inference}}"});
  const std::vector<ExistingObject> existing = {
      existing_one("{apiVersion: v1, kind: Service, metadata: {name: code, namespace: llm}}")};
  EXPECT_EQ(match_objects(plan, existing)[0].existing, nullptr);
  EXPECT_EQ(match_objects(plan, existing)[1].existing, &existing[0]);
}

}  // namespace
}  // namespace capstan::plan
