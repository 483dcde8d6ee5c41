#include "plan/against/double_scaler.h"

#include <gtest/gtest.h>

namespace capstan::plan {
namespace {

ExistingObject autoscaler(const std::string& kind, const std::string& name, const std::string& more = "") {
  return {name + ".yaml", manifest::parse("kind: " + kind + "\nmetadata: {name: " + name +
                                              ", namespace: llm}\nspec: {scaleTargetRef: {name: chat}" + more + "}\n",
                                          name + ".yaml")
                              .value()};
}

/// Returns the names of the autoscalers to delete. The plan has an object for each, and chose KEDA.
std::vector<std::string> deleted_names(const std::vector<ExistingObject>& existing) {
  const Manifest hpa{.file = "hpa.yaml", .alternative = {.choice = "scaler", .option = "hpa"}};
  const Manifest keda{.file = "keda.yaml", .alternative = {.choice = "scaler", .option = "keda", .is_chosen = true}};
  std::vector<ObjectMatch> pairs;
  for (const ExistingObject& object : existing) {
    pairs.push_back({nullptr, object.kind() == "ScaledObject" ? &keda : &hpa, &object});
  }
  std::vector<std::string> out;
  for (const DoubleScaler& scaler : double_scalers(pairs, existing)) out.push_back(scaler.deleted->name());
  return out;
}

using Names = std::vector<std::string>;

TEST(DoubleScaler, TheKindOfThePlanStays) {
  EXPECT_EQ(deleted_names({autoscaler("HorizontalPodAutoscaler", "a"), autoscaler("ScaledObject", "b")}), Names{"a"});
  EXPECT_EQ(deleted_names({autoscaler("ScaledObject", "b"), autoscaler("HorizontalPodAutoscaler", "a")}), Names{"a"});
  EXPECT_EQ(deleted_names({autoscaler("ScaledObject", "b")}), Names{});
}

TEST(DoubleScaler, OfTwoOfOneKindTheFirstStays) {
  EXPECT_EQ(deleted_names({autoscaler("HorizontalPodAutoscaler", "a"), autoscaler("HorizontalPodAutoscaler", "b")}),
            Names{"b"});
}

TEST(DoubleScaler, LeavesTheHpaThatKedaMade) {
  EXPECT_EQ(deleted_names({autoscaler("ScaledObject", "b"), autoscaler("HorizontalPodAutoscaler", "keda-hpa-b")}),
            Names{});
  EXPECT_EQ(deleted_names({autoscaler("ScaledObject", "b", ", advanced: {horizontalPodAutoscalerConfig: {name: mine}}"),
                           autoscaler("HorizontalPodAutoscaler", "mine")}),
            Names{});
}

TEST(DoubleScaler, LeavesTheAlternativesThatThePlanWrote) {
  std::vector<ExistingObject> existing = {autoscaler("HorizontalPodAutoscaler", "a"), autoscaler("ScaledObject", "b")};
  existing[0].file = "out/replicas/hpa.yaml";
  const Manifest hpa{.file = "replicas/hpa.yaml", .alternative = {.choice = "scaler", .option = "hpa"}};
  const Manifest keda{.file = "keda.yaml", .alternative = {.choice = "scaler", .option = "keda", .is_chosen = true}};
  EXPECT_TRUE(double_scalers({{nullptr, &hpa, &existing[0]}, {nullptr, &keda, &existing[1]}}, existing).empty());
}

TEST(DoubleScaler, NamesBothAndTheTarget) {
  const std::vector<ExistingObject> existing = {autoscaler("HorizontalPodAutoscaler", "a"),
                                                autoscaler("ScaledObject", "b")};
  const Difference change = delete_scaler({&existing[0], &existing[1]});
  EXPECT_EQ(change.kind, Difference::Kind::remove);
  EXPECT_EQ(change.object, "HorizontalPodAutoscaler a");
  EXPECT_EQ(change.path, "");
  EXPECT_EQ(change.why,
            "ScaledObject b (b.yaml) scales Deployment chat too; of the two, the plan keeps the ScaledObject");
}

}  // namespace
}  // namespace capstan::plan
