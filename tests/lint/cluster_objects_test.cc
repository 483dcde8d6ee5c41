// Tests `capstan lint --kubeconfig` against an API server in memory.
#include "cli/lint.h"

#include <gtest/gtest.h>

#include <algorithm>

#include <nlohmann/json.hpp>

#include "cluster_server.h"
#include "lint/render/render.h"
#include "lint/rules.h"

namespace capstan::cli::cluster_objects_test {
namespace {

using nlohmann::json;
using op::testing::ClusterServer;

const std::string kDeployments = "/apis/apps/v1/Deployment";
const std::string kHpas = "/apis/autoscaling/v1/HorizontalPodAutoscaler";

/// Fills a cluster with a GPU Deployment and an HPA that follows the wrong signal.
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

struct Listing {
  std::vector<lint::Text> texts;
  std::vector<Error> refused;
};

Listing read(ClusterServer& cluster, const std::string& ns) {
  op::testing::ClusterClient cluster_client(cluster, 1);
  const std::vector<std::string_view> kinds = lint::checked_kinds();
  kube::AuthoredObjects objects(cluster_client.client, cluster.clock(), {kinds.begin(), kinds.end()}, ns);
  for (int i = 0; i < 1000 && !objects.done(); ++i) {
    objects.run_once();
    cluster_client.client.run_once();
    cluster.answer();
    cluster.api.advance(std::chrono::milliseconds(10), [] {});
  }
  EXPECT_TRUE(objects.done());
  return {cluster_texts(objects.take_objects()), objects.refused()};
}

TEST(ClusterObjects, FindingsNameObjectsInsteadOfFiles) {
  ClusterServer cluster;
  fill(cluster);
  Listing listing = read(cluster, "");
  EXPECT_TRUE(listing.refused.empty());
  ASSERT_EQ(listing.texts.size(), 2u);  // the ReplicaSet is left out, because the Deployment owns it
  const lint::Report report = lint::lint_texts(std::move(listing.texts), {});
  const std::string text = lint::to_text(report, false);
  EXPECT_NE(text.find("error[fractional-gpu]"), std::string::npos) << text;
  EXPECT_NE(text.find("--> Deployment/llm/vllm:"), std::string::npos) << text;
  EXPECT_NE(text.find("error[gpu-util-scaling-signal]"), std::string::npos) << text;
  EXPECT_NE(text.find("--> HorizontalPodAutoscaler/llm/vllm:"), std::string::npos) << text;
  EXPECT_EQ(text.find("\"status\""), std::string::npos);
  EXPECT_NE(text.find("warning[deployment-replicas-with-autoscaler]"), std::string::npos)
      << "objects of one cluster are deployed together\n"
      << text;
}

TEST(ClusterObjects, OnlyKindsThatRulesCheckAreListed) {
  ClusterServer cluster;
  fill(cluster);
  read(cluster, "llm");
  for (const auto& request : cluster.api.seen) {
    EXPECT_EQ(request.path.find("ClusterRole"), std::string::npos) << request.path;
    EXPECT_NE(request.path.find("/namespaces/llm/"), std::string::npos) << request.path;
  }
  EXPECT_FALSE(cluster.api.seen.empty());
}

TEST(ClusterObjects, AllPagesAreRead) {
  ClusterServer cluster;
  cluster.served = {{"apps", {"Deployment"}}};
  cluster.api.page_max = 3;
  for (int i = 0; i < 10; ++i)
    cluster.api.put(kDeployments, "llm", "d" + std::to_string(i), {{"spec", json::object()}});
  EXPECT_EQ(read(cluster, "").texts.size(), 10u);
}

TEST(ClusterObjects, ARefusedRequestIsAnError) {
  ClusterServer cluster;
  fill(cluster);
  cluster.api.token = "another";  // the server refuses the client's token
  const Listing listing = read(cluster, "");
  EXPECT_TRUE(listing.texts.empty());
  ASSERT_FALSE(listing.refused.empty());
  EXPECT_NE(listing.refused[0].message.find("cannot be listed: 401"), std::string::npos) << listing.refused[0].message;
}

}  // namespace
}  // namespace capstan::cli::cluster_objects_test
