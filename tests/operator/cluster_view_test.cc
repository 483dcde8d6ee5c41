#include "operator/view/cluster_view.h"

#include <gtest/gtest.h>
#include "objects.h"

namespace capstan::op {
namespace {

TEST(ClusterView, CountsOnlyGpusOfAnyVendor) {
  kube::Resources resources;
  resources.add("nvidia.com/gpu", 8'000);
  resources.add("amd.com/gpu", 2'000);
  resources.add("cpu", 64'000);
  resources.add("nvidia.com/gpumem", 5'000);
  EXPECT_EQ(gpus_of(resources), whole_gpus(10));
}

TEST(ClusterView, FindsTargetsByKindNamespaceAndName) {
  testing::Cluster cluster;
  cluster.deployments.put(testing::deployment("chat", 2));
  const ClusterView view = cluster.view();
  const Targets targets(view);
  ASSERT_NE(targets.find("ns", {"apps/v1", "Deployment", "chat"}), nullptr);
  EXPECT_EQ(targets.find("ns", {"apps/v1", "Deployment", "chat"})->replicas, 2);
  EXPECT_EQ(targets.find("other", {"apps/v1", "Deployment", "chat"}), nullptr);
  EXPECT_EQ(targets.find("ns", {"apps/v1", "StatefulSet", "chat"}), nullptr);
  EXPECT_EQ(targets.find("ns", {"apps/v1", "Deployment", "chats"}), nullptr);
}

TEST(ClusterView, ReplicasAreInShadowWithoutAFleetPolicy) {
  testing::Cluster cluster;
  EXPECT_EQ(fleet_mode(cluster.view()), Mode::shadow);
  cluster.fleet.put({{"metadata", {{"name", "default"}}}, {"spec", {{"layers", {{"replicas", "Off"}}}}}});
  EXPECT_EQ(fleet_mode(cluster.view()), Mode::off);
}

}  // namespace
}  // namespace capstan::op
