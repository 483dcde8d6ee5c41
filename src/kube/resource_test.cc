#include "kube/resource.h"

#include <gtest/gtest.h>

namespace capstan::kube {
namespace {

TEST(Resource, BuildsPaths) {
  using namespace resources;
  EXPECT_EQ(path_of(kPods, ""), "/api/v1/pods");
  EXPECT_EQ(path_of(kPods, "a", "b", "binding"), "/api/v1/namespaces/a/pods/b/binding");
  EXPECT_EQ(path_of(kNodes, "ignored", "n"), "/api/v1/nodes/n");
  EXPECT_EQ(path_of(kDeployments, "a", "b", "scale"), "/apis/apps/v1/namespaces/a/deployments/b/scale");
  EXPECT_EQ(path_of(kNodeClaims, "", "../x?y"), "/apis/karpenter.sh/v1/nodeclaims/..%2Fx%3Fy");
}

TEST(Resource, HasTheNamesOfKubectl) {
  EXPECT_EQ(resources::kPods.api_version(), "v1");
  EXPECT_EQ(resources::kPods.name(), "pods");
  EXPECT_EQ(resources::kKaiQueues.api_version(), "scheduling.run.ai/v2");
  EXPECT_EQ(resources::kKaiQueues.name(), "queues.scheduling.run.ai");
}

}  // namespace
}  // namespace capstan::kube
