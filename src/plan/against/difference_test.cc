#include "plan/against/difference.h"

#include <gtest/gtest.h>

namespace capstan::plan {
namespace {

ExistingObject object(const std::string& text) {
  return {.file = "old.yaml", .body = manifest::parse(text, "old.yaml").value()};
}

Plan plan_of(std::vector<Manifest> manifests) {
  Plan plan;
  plan.sections.push_back({.key = "nodes", .title = "Nodes", .manifests = std::move(manifests)});
  return plan;
}

Manifest pool() {
  Yaml body = Yaml::map({{"apiVersion", "karpenter.sh/v1"}, {"kind", "NodePool"}});
  body["metadata"].set("name", "h100");
  body["spec"]["disruption"].set("consolidationPolicy", "WhenEmpty", "it ends no running replica");
  body["spec"]["disruption"].set("consolidateAfter", "1h");
  body["spec"].set("taints", Yaml::list({Yaml::map({{"key", "nvidia.com/gpu"}, {"effect", "NoSchedule"}})}));
  return {.file = "nodes/h100.yaml", .body = std::move(body)};
}

TEST(Against, NamesPlaceFoundPlannedAndReason) {
  const auto changes = find_differences(plan_of({pool()}), {object(R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpus}
spec:
  disruption:
    consolidationPolicy: WhenEmptyOrUnderutilized
    consolidateAfter: 60m
  taints:
  - {key: nvidia.com/gpu, effect: NoExecute}
)")});
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_EQ(changes[0].object, "NodePool gpus");
  EXPECT_EQ(changes[0].line, 6u);
  EXPECT_EQ(changes[0].path, "spec.disruption.consolidationPolicy");
  EXPECT_EQ(changes[0].found->text(), "WhenEmptyOrUnderutilized");
  EXPECT_EQ(changes[0].planned->text(), "WhenEmpty");
  EXPECT_EQ(changes[0].saving.removed_risk, "a replica that is ended while it answers");
  EXPECT_EQ(changes[0].why, "it ends no running replica");
  EXPECT_EQ(changes[1].path, "spec.taints.nvidia.com/gpu.effect");
}

TEST(Against, SaysWhatIsAbsent) {
  const auto changes = find_differences(
      plan_of({pool()}),
      {object("apiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: h100}\nspec: {taints: []}\n")});
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_EQ(changes[0].path, "spec.disruption");
  EXPECT_FALSE(changes[0].found);
  EXPECT_EQ(changes[1].planned->flow(), R"({"key": "nvidia.com/gpu", "effect": "NoSchedule"})");
}

TEST(Against, SaysThatAnObjectIsMissing) {
  const auto changes = find_differences(plan_of({pool()}), {});
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].object, "NodePool h100");
  EXPECT_EQ(changes[0].line, 0u);
  EXPECT_EQ(changes[0].file, "nodes/h100.yaml");
}

TEST(Against, ComparesOnlyTheAlternativeThatExists) {
  const auto scaler = [](const std::string& option, const std::string& kind, bool is_chosen) {
    Yaml body = Yaml::map({{"kind", kind}});
    body["metadata"].set("name", "chat");
    body["spec"].set("maxReplicas", 8);
    return Manifest{.file = "replicas/" + option + "/chat.yaml",
                    .body = std::move(body),
                    .alternative = {.choice = "scaler of chat", .option = option, .is_chosen = is_chosen}};
  };
  const Plan plan = plan_of({scaler("keda", "ScaledObject", true), scaler("hpa", "HorizontalPodAutoscaler", false)});
  const auto changes = find_differences(
      plan, {object("kind: HorizontalPodAutoscaler\nmetadata: {name: chat}\nspec: {maxReplicas: 20}\n")});
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].object, "HorizontalPodAutoscaler chat");
  const auto none = find_differences(plan, {});
  ASSERT_EQ(none.size(), 1u);
  EXPECT_EQ(none[0].object, "ScaledObject chat") << "the chosen one is absent";
}

TEST(Against, NamesBothAutoscalersOfATargetAndDeletesOne) {
  const auto scaler = [](const std::string& option, const std::string& kind, bool is_chosen) {
    Yaml body = Yaml::map({{"kind", kind}});
    body["metadata"].set("name", "chat");
    body["spec"]["scaleTargetRef"].set("name", "chat");
    body["spec"].set("max", 8);
    return Manifest{.file = option + ".yaml",
                    .body = std::move(body),
                    .alternative = {.choice = "scaler of chat", .option = option, .is_chosen = is_chosen}};
  };
  const Plan plan = plan_of({scaler("keda", "ScaledObject", true), scaler("hpa", "HorizontalPodAutoscaler", false)});
  const auto existing = [](const std::string& kind) {
    return object("kind: " + kind + "\nmetadata: {name: a}\nspec: {scaleTargetRef: {name: chat}, max: 20}\n");
  };
  const auto changes = find_differences(plan, {existing("HorizontalPodAutoscaler"), existing("ScaledObject")});
  ASSERT_EQ(changes.size(), 2u) << "the HPA that goes is not edited too";
  EXPECT_EQ(changes[0].object, "HorizontalPodAutoscaler a");
  EXPECT_EQ(changes[0].kind, Difference::Kind::remove);
  EXPECT_NE(changes[0].why.find("ScaledObject a"), std::string::npos);
  EXPECT_EQ(changes[1].object, "ScaledObject a");
  EXPECT_EQ(changes[1].path, "spec.max");
}

TEST(Against, LeavesTheReplicasToAnAutoscalerThatExists) {
  Yaml body = Yaml::map({{"apiVersion", "apps/v1"}, {"kind", "Deployment"}});
  body["metadata"].set("name", "chat");
  body["spec"].set("replicas", 2);
  const Plan plan = plan_of({{.file = "workload/chat.yaml", .body = body}});
  const ExistingObject workload =
      object("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: chat}\nspec: {replicas: 4}\n");
  const auto changes = find_differences(plan, {workload});
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].path, "spec.replicas");
  for (const char* scaler :
       {"kind: HorizontalPodAutoscaler\nmetadata: {name: a}\nspec: {scaleTargetRef: {kind: Deployment, name: chat}}\n",
        "kind: InferenceScaler\nmetadata: {name: a}\nspec: {roles: [{variants: [{targetRef: {name: chat}}]}]}\n"}) {
    EXPECT_TRUE(find_differences(plan, {workload, object(scaler)}).empty()) << scaler;
  }
}

TEST(Against, AsksForNoOptionThatIsOptional) {
  Manifest balloon = pool();
  balloon.alternative = {.choice = "spare capacity", .option = "balloon"};
  EXPECT_TRUE(find_differences(plan_of({balloon}), {}).empty());
}

TEST(Against, PutsTheGraverRiskFirst) {
  Yaml body = Yaml::map({{"kind", "PodDisruptionBudget"}});
  body["metadata"].set("name", "chat");
  Yaml monitor = Yaml::map({{"kind", "PodMonitor"}});
  monitor["metadata"].set("name", "chat");
  const auto changes = find_differences(plan_of({{.file = "a", .body = monitor}, {.file = "b", .body = body}}), {});
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_EQ(changes[0].object, "PodDisruptionBudget chat");
}

TEST(Against, FindsNothingInThePlansOwnObjects) {
  const Manifest planned = pool();
  EXPECT_TRUE(find_differences(plan_of({pool()}), {object(planned.body.document())}).empty());
}

}  // namespace
}  // namespace capstan::plan
