#include "operator/view/competing_controllers.h"

#include <gtest/gtest.h>
#include "objects.h"

namespace capstan::op {
namespace {

using testing::Object;

const kube::TargetRef kChat{"apps/v1", "Deployment", "chat"};

Object hpa(const std::string& name, const std::string& target) {
  return {{"metadata", testing::meta(name)},
          {"spec", {{"scaleTargetRef", {{"apiVersion", "apps/v1"}, {"kind", "Deployment"}, {"name", target}}}}}};
}

Object scaled_object(const std::string& name, const std::string& target, const std::string& hpa_name) {
  return {{"metadata", testing::meta(name)},
          {"spec", {{"scaleTargetRef", {{"name", target}}}}},
          {"status", {{"hpaName", hpa_name}}}};
}

TEST(CompetingControllers, AutoscalerOfTheSameTarget) {
  testing::Cluster cluster;
  cluster.autoscalers.put(hpa("web", "web"));
  EXPECT_EQ(CompetingControllers(cluster.view()).find("ns", kChat), "");
  cluster.autoscalers.put(hpa("chat", "chat"));
  EXPECT_EQ(CompetingControllers(cluster.view()).find("ns", kChat), "HorizontalPodAutoscaler ns/chat");
  EXPECT_EQ(CompetingControllers(cluster.view()).find("other", kChat), "");
  cluster.autoscalers.remove("ns/chat");
  EXPECT_EQ(CompetingControllers(cluster.view()).find("ns", kChat), "");
}

TEST(CompetingControllers, ScaledObjectUntilItIsPaused) {
  testing::Cluster cluster;
  Object scaled = scaled_object("chat", "chat", "keda-hpa-chat");
  cluster.scaled_objects.put(scaled);
  cluster.autoscalers.put(hpa("keda-hpa-chat", "chat"));
  EXPECT_EQ(CompetingControllers(cluster.view()).find("ns", kChat), "ScaledObject ns/chat");
  scaled["metadata"]["annotations"] = {{"autoscaling.keda.sh/paused", "true"}};
  cluster.scaled_objects.put(scaled);
  EXPECT_EQ(CompetingControllers(cluster.view()).find("ns", kChat), "")
      << "the HPA of a paused ScaledObject is no rival either";
}

TEST(CompetingControllers, VariantAutoscaling) {
  testing::Cluster cluster;
  cluster.variant_autoscalings.put(hpa("chat", "chat"));
  EXPECT_EQ(CompetingControllers(cluster.view()).find("ns", kChat), "VariantAutoscaling ns/chat");
  cluster.variant_autoscalings.remove("ns/chat");
  EXPECT_EQ(CompetingControllers(cluster.view()).find("ns", kChat), "");
}

TEST(CompetingControllers, OwnerOfTheTargetOrAnotherWriter) {
  testing::Cluster cluster;
  Object chat = {{"kind", "Deployment"}, {"metadata", testing::meta("chat")}};
  cluster.deployments.put(chat);
  EXPECT_EQ(CompetingControllers(cluster.view()).find("ns", kChat), "");
  chat["metadata"]["ownerReferences"] = {{{"apiVersion", "nvidia.com/v1alpha1"},
                                          {"kind", "DynamoComponentDeployment"},
                                          {"name", "decode"},
                                          {"uid", "u"},
                                          {"controller", true}}};
  cluster.deployments.put(chat);
  EXPECT_EQ(CompetingControllers(cluster.view()).find("ns", kChat), "DynamoComponentDeployment decode");
  chat["metadata"].erase("ownerReferences");
  chat["metadata"]["managedFields"] = {{{"manager", "argocd-controller"},
                                        {"time", "2026-01-01T00:00:00Z"},
                                        {"fieldsV1", {{"f:spec", {{"f:replicas", Object::object()}}}}}}};
  cluster.deployments.put(chat);
  EXPECT_EQ(CompetingControllers(cluster.view()).find("ns", kChat), "argocd-controller");
}

}  // namespace
}  // namespace capstan::op
