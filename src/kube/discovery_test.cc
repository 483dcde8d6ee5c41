#include "kube/discovery.h"

#include <gtest/gtest.h>

namespace capstan::kube {
namespace {

struct DiscoveryTest : testing::Test {
  JsonDocument document;
  Json object(std::string_view text) { return document.parse(text).value(); }
};

TEST_F(DiscoveryTest, ReadsTheAggregatedForm) {
  const ServedResources served = read_aggregated_discovery(object(R"({"kind": "APIGroupDiscoveryList", "items": [
    {"metadata": {"name": "apps"}, "versions": [{"version": "v1", "resources": [
      {"resource": "deployments", "responseKind": {"group": "", "version": "", "kind": "Deployment"},
        "scope": "Namespaced",
       "subresources": [{"subresource": "status"}, {"subresource": "scale"}]}]}]},
    {"metadata": {"name": "karpenter.sh"}, "versions": [
      {"version": "v1", "resources": [{"resource": "nodeclaims", "responseKind": {"kind": "NodeClaim"},
        "scope": "Cluster"}]},
      {"version": "v1beta1", "resources": [{"resource": "nodeclaims", "responseKind": {"kind": "NodeClaim"},
        "scope": "Cluster"}]}]}]})"));
  ASSERT_EQ(served.all().size(), 3u);
  const ServedResource* deployments = served.find_kind("apps", "Deployment");
  ASSERT_NE(deployments, nullptr);
  EXPECT_EQ(deployments->resource, resources::kDeployments);
  EXPECT_TRUE(deployments->has_subresource("scale"));
  EXPECT_FALSE(deployments->has_subresource("binding"));
  EXPECT_EQ(served.find_plural("karpenter.sh", "nodeclaims")->resource, resources::kNodeClaims)
      << "the preferred version";
  EXPECT_EQ(served.find_exact(resources::kNodePools), nullptr);
}

TEST_F(DiscoveryTest, ReadsOneGroupVersionAtATime) {
  EXPECT_EQ(read_version_paths(object(R"({"kind": "APIVersions", "versions": ["v1"]})")),
            (std::vector<std::string>{"/api/v1"}));
  EXPECT_EQ(read_version_paths(object(R"({"kind": "APIGroupList", "groups": [{"name": "autoscaling",
    "versions": [{"groupVersion": "autoscaling/v1"}, {"groupVersion": "autoscaling/v2"}],
    "preferredVersion": {"groupVersion": "autoscaling/v2"}}]})")),
            (std::vector<std::string>{"/apis/autoscaling/v2", "/apis/autoscaling/v1"}));
  const ServedResources served =
      read_resource_list(object(R"({"kind": "APIResourceList", "groupVersion": "v1", "resources": [
    {"name": "pods", "namespaced": true, "kind": "Pod"}, {"name": "pods/eviction", "namespaced": true,
      "kind": "Eviction"},
    {"name": "pods/binding", "namespaced": true, "kind": "Binding"}]})"));
  ASSERT_EQ(served.all().size(), 1u);
  EXPECT_EQ(served.all()[0].resource, resources::kPods);
  EXPECT_EQ(served.all()[0].subresources, (std::vector<std::string>{"binding", "eviction"}));
}

}  // namespace
}  // namespace capstan::kube
