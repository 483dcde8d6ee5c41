// `capstan lint --kubeconfig` against an API server in memory.
#include "cli/cluster_objects.h"

#include <gtest/gtest.h>

#include <algorithm>

#include <nlohmann/json.hpp>

#include "cluster_server.h"
#include "lint/render/render.h"

namespace capstan::cli::cluster_objects_test {
namespace {

using nlohmann::json;
using op::testing::ClusterServer;

const std::string kDeployments = "/apis/apps/v1/Deployment";
const std::string kHpas = "/apis/autoscaling/v1/HorizontalPodAutoscaler";

/// A cluster with a GPU Deployment and an HPA that follows the wrong signal.
void fill(ClusterServer& cluster) {
  cluster.served = {{"apps", {"Deployment", "ReplicaSet"}},
                    {"autoscaling", {"HorizontalPodAutoscaler"}},
                    {"rbac.authorization.k8s.io", {"ClusterRole"}}};
  const json pod = {
      {"containers",
       {{{"name", "vllm"}, {"image", "vllm:1"}, {"resources", {{"limits", {{"nvidia.com/gpu", "0.5"}}}}}}}}};
  const json spec = {{"replicas", 3}, {"selector", {{"matchLabels", {{"a", "b"}}}}}, {"template", {{"spec", pod}}}};
  cluster.api.put(kDeployments, "llm", "vllm", {{"spec", spec}, {"status", {{"replicas", 3}}}});
  const json owner = {{"ownerReferences", {{{"kind", "Deployment"}, {"name", "vllm"}, {"controller", true}}}}};
  cluster.api.put("/apis/apps/v1/ReplicaSet", "llm", "vllm-1", {{"metadata", owner}, {"spec", spec}});
  const json metric = {{"type", "Pods"},
                       {"pods",
                        {{"metric", {{"name", "DCGM_FI_DEV_GPU_UTIL"}}},
                         {"target", {{"type", "AverageValue"}, {"averageValue", "65"}}}}}};
  cluster.api.put(
      kHpas, "llm", "vllm",
      {{"spec",
        {{"scaleTargetRef", {{"kind", "Deployment"}, {"name", "vllm"}}}, {"maxReplicas", 4}, {"metrics", {metric}}}}});
}

struct Seen {
  std::vector<lint::Text> texts;
  std::vector<Error> refused;
};

Seen read(ClusterServer& cluster, const std::string& ns) {
  op::testing::Side side(cluster, 1);
  ClusterObjects objects(side.client, cluster.clock(), ns);
  for (int i = 0; i < 1000 && !objects.done(); ++i) {
    objects.turn();
    side.client.turn();
    cluster.answer();
    cluster.api.advance(std::chrono::milliseconds(10), [] {});
  }
  EXPECT_TRUE(objects.done());
  return {objects.take_texts(), objects.refused()};
}

TEST(ClusterObjects, FindingsNameObjectsInsteadOfFiles) {
  ClusterServer cluster;
  fill(cluster);
  Seen seen = read(cluster, "");
  EXPECT_TRUE(seen.refused.empty());
  ASSERT_EQ(seen.texts.size(), 2u);  // the ReplicaSet is the Deployment's
  const lint::Report report = lint::lint_texts(std::move(seen.texts), {});
  const std::string words = lint::to_text(report, false);
  EXPECT_NE(words.find("error[fractional-gpu]"), std::string::npos) << words;
  EXPECT_NE(words.find("--> Deployment/llm/vllm:"), std::string::npos) << words;
  EXPECT_NE(words.find("error[gpu-util-scaling-signal]"), std::string::npos) << words;
  EXPECT_NE(words.find("--> HorizontalPodAutoscaler/llm/vllm:"), std::string::npos) << words;
  EXPECT_EQ(words.find("\"status\""), std::string::npos);
  EXPECT_NE(words.find("warning[deployment-replicas-with-autoscaler]"), std::string::npos)
      << "what one cluster holds is deployed together\n"
      << words;
}

TEST(ClusterObjects, OnlyKindsThatRulesLookAtAreListed) {
  ClusterServer cluster;
  fill(cluster);
  read(cluster, "llm");
  for (const auto& request : cluster.api.seen) {
    EXPECT_EQ(request.path.find("ClusterRole"), std::string::npos) << request.path;
    EXPECT_NE(request.path.find("/namespaces/llm/"), std::string::npos) << request.path;
  }
  EXPECT_FALSE(cluster.api.seen.empty());
}

TEST(ClusterObjects, PagesAreReadToTheirEnd) {
  ClusterServer cluster;
  cluster.served = {{"apps", {"Deployment"}}};
  cluster.api.page_max = 3;
  for (int i = 0; i < 10; ++i)
    cluster.api.put(kDeployments, "llm", "d" + std::to_string(i), {{"spec", json::object()}});
  EXPECT_EQ(read(cluster, "").texts.size(), 10u);
}

TEST(ClusterObjects, AServerThatAnswersNothingIsAnError) {
  ClusterServer cluster;
  fill(cluster);
  cluster.api.token = "another";  // ours is refused
  const Seen seen = read(cluster, "");
  EXPECT_TRUE(seen.texts.empty());
  ASSERT_FALSE(seen.refused.empty());
  EXPECT_NE(seen.refused[0].message.find("cannot be listed: 401"), std::string::npos) << seen.refused[0].message;
}

}  // namespace
}  // namespace capstan::cli::cluster_objects_test
