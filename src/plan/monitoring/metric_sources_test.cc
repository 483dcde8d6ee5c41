#include "plan/monitoring/metric_sources.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace capstan::plan {
namespace {

TEST(MetricSources, AreMissingWhereTheCloudRunsTheComponent) {
  ClusterSpec cluster;
  for (const MetricSource source : {MetricSource::karpenter, MetricSource::cluster_autoscaler, MetricSource::kai}) {
    EXPECT_EQ(missing_source(cluster, source), "");
  }
  cluster.cloud = Cloud::azure;
  EXPECT_TRUE(missing_source(cluster, MetricSource::karpenter).starts_with("AKS runs Karpenter"));
  EXPECT_TRUE(missing_source(cluster, MetricSource::cluster_autoscaler).starts_with("AKS runs the Cluster Autoscaler"));
  cluster.cloud = Cloud::gcp;
  EXPECT_TRUE(missing_source(cluster, MetricSource::cluster_autoscaler).starts_with("GKE"));
  EXPECT_EQ(missing_source(cluster, MetricSource::dcgm), "");
}

TEST(MetricSources, HaveAManifestEach) {
  PlanSpec spec;
  spec.namespace_ = "llm";
  const std::vector<Manifest> found = metric_source_manifests(spec, {MetricSource::karpenter, MetricSource::kueue});
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].body.document(), R"(apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata:
  name: karpenter
  namespace: llm
spec:
  namespaceSelector:
    any: true
  selector:
    matchLabels:
      app.kubernetes.io/name: karpenter
  endpoints:
  - port: http-metrics
)");
  EXPECT_EQ(found[1].file, "monitoring/kueue-metrics.yaml");
  EXPECT_EQ(found[2].file, "monitoring/values/kube-prometheus-stack.yaml");
  EXPECT_FALSE(found[2].is_object);
  EXPECT_NE(prometheus_command().command.find(found[2].file), std::string::npos);
}

TEST(MetricSources, OfKaiSelectEveryServiceOfItsNamespace) {
  const std::vector<Manifest> found = metric_source_manifests({}, {MetricSource::kai});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_NE(found[0].body.document().find("selector: {}"), std::string::npos) << found[0].body.document();
}

TEST(SeriesLabel, IsTheOneOfKubeStateMetrics) {
  EXPECT_EQ(series_label("capstan.dev/pool"), "label_capstan_dev_pool");
  EXPECT_EQ(series_label("eks.amazonaws.com/capacityType"), "label_eks_amazonaws_com_capacity_type");
}

}  // namespace
}  // namespace capstan::plan
