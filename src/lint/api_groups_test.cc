#include "lint/api_groups.h"

#include <gtest/gtest.h>

namespace capstan::lint {
namespace {

TEST(ApiGroups, AWrongGroupOrVersionMeansTheKnownOne) {
  struct Row {
    std::string_view kind, api_version, meant;
    bool is_group_wrong = true;
  };
  const Row rows[] = {
      {"Deployment", "app/v1", "apps/v1"},
      {"Deployment", "v1", "apps/v1"},
      {"Deployment", "batch/v1", "apps/v1"},
      {"Deployment", "extension/v1beta1", "extensions/v1beta1"},
      {"Deployment", "apps/v2", "apps/v1", false},
      {"Deployment", "apps/v1alpha1", "apps/v1", false},
      {"Pod", "apps/v1", "v1"},
      {"Pod", "v2", "v1", false},
      {"Job", "batch/v1beta1", "batch/v1", false},
      {"Job", "batch.volcano.s/v1alpha1", "batch.volcano.sh/v1alpha1"},
      {"Job", "apps/v1", "batch/v1"},
      {"HorizontalPodAutoscaler", "autoscalling/v2", "autoscaling/v2"},
      {"ScaledObject", "keda.sj/v1alpha1", "keda.sh/v1alpha1"},
      {"ScaledObject", "keda/v1alpha1", "keda.sh/v1alpha1"},
      {"ScaledObject", "keda.sh/v1", "keda.sh/v1alpha1", false},
      {"NodePool", "karpenter/v1", "karpenter.sh/v1"},
      {"LeaderWorkerSet", "leaderworkerset.k8s.io/v1", "leaderworkerset.x-k8s.io/v1"},
  };
  for (const Row& row : rows) {
    const auto meant = intended_api(row.kind, row.api_version);
    ASSERT_TRUE(meant) << row.kind << " " << row.api_version;
    EXPECT_EQ(meant->api_version, row.meant) << row.api_version;
    EXPECT_EQ(meant->is_group_wrong, row.is_group_wrong) << row.api_version;
  }
}

TEST(ApiGroups, AKnownOrForeignGroupMeansItself) {
  struct Row {
    std::string_view kind, api_version;
  };
  const Row rows[] = {{"Deployment", "apps/v1"},
                      {"Deployment", "extensions/v1beta1"},
                      {"Deployment", "apps.example.com/v1"},
                      {"Deployment", "${API}/v1"},
                      {"StatefulSet", "apps.kruise.io/v1beta1"},
                      {"Job", "batch.volcano.sh/v1alpha1"},
                      {"NodePool", "hypershift.openshift.io/v1beta1"},
                      {"NodePool", "cluster.x-k8s.io/v1beta1"},
                      {"Service", "serving.knative.dev/v1"},
                      {"Service", "apps/v1"},
                      {"PodAutoscaler", "autoscaling.internal.knative.dev/v1alpha1"},
                      {"PodAutoscaler", "autoscaling/v1"},
                      {"RayCluster", "ray.io/v1alpha1"},
                      {"HorizontalPodAutoscaler", "autoscaling/v2beta1"},
                      {"NodePool", "karpenter.sh/v1alpha5"},
                      {"ScaledObject", "keda.k8s.io/v1alpha1"},
                      {"Widget", "app/v1"}};
  for (const Row& row : rows) EXPECT_FALSE(intended_api(row.kind, row.api_version)) << row.kind << row.api_version;
}

}  // namespace
}  // namespace capstan::lint
