#include "plan/objects/names.h"

#include <gtest/gtest.h>

namespace capstan::plan {
namespace {

TEST(PlanNames, APoolIsNamedAsPeopleCallTheGpu) {
  struct Row {
    std::string_view gpu, short_name, pool, spot;
  };
  for (const Row& row : {Row{"h100_sxm", "h100", "h100", "h100-spot"}, Row{"l40s", "l40s", "l40s", "l40s-spot"},
                         Row{"a100_sxm_40g", "a100-40g", "a100-40g", "a100-40g-spot"},
                         Row{"h100_nvl", "h100-nvl", "h100-nvl", "h100-nvl-spot"},
                         Row{"h100-3g.40gb", "h100-3g.40gb", "h100-3g-40gb", "h100-3g-40gb-spot"}}) {
    EXPECT_EQ(gpu_short_name(row.gpu), row.short_name);
    EXPECT_EQ(pool_name(row.gpu), row.pool);
    EXPECT_EQ(spot_pool_name(row.gpu), row.spot);
  }
}

TEST(PlanNames, ASliceIsAskedForByItsProfile) {
  EXPECT_EQ(mig_profile_of("h100-3g.40gb"), "3g.40gb");
  EXPECT_EQ(whole_gpu_of("h100_sxm-1g.10gb"), "h100_sxm");
  for (const char* whole : {"h100_sxm", "a100-40g", "x-g.gb", "x-3g.gb", "x-3g.4xgb", ""}) {
    EXPECT_EQ(mig_profile_of(whole), std::nullopt) << whole;
    EXPECT_EQ(whole_gpu_of(whole), whole);
  }
  RoleFleet role;
  role.engine.gpu = "h100-3g.40gb";
  EXPECT_EQ(gpu_resource(Cloud::aws, role.engine.gpu), "nvidia.com/mig-3g.40gb");
  EXPECT_EQ(device_selector(Cloud::aws, role).document(), "capstan.dev/pool: h100-3g-40gb\n");
  EXPECT_EQ(gpu_resource(Cloud::gcp, role.engine.gpu), "nvidia.com/gpu");
  EXPECT_EQ(device_selector(Cloud::gcp, role).document(),
            "capstan.dev/pool: h100-3g-40gb\ncloud.google.com/gke-gpu-partition-size: \"3g.40gb\"\n");
  EXPECT_EQ(device_of(role).pool, "h100-3g-40gb");
  EXPECT_EQ(device_of(role).per_pod, 1);
}

TEST(PlanNames, PodsThatDoNotServeHaveTheNameOfNoService) {
  PlanSpec spec;
  spec.services = {{.name = "chat"}};
  EXPECT_EQ(helper_name(spec, "chat", "balloon"), "chat-balloon");
  spec.services.push_back({.name = "chat-balloon"});
  EXPECT_EQ(helper_name(spec, "chat", "balloon"), "chat-balloon-pods");
  EXPECT_EQ(helper_name(spec, "chat-balloon", "balloon"), "chat-balloon-balloon");
}

TEST(PlanNames, AReplicaOfSeveralPodsDividesItsGpus) {
  RoleFleet role;
  role.engine.gpu = "h100_sxm";
  role.engine.tp = 16;
  role.pods = 2;
  EXPECT_EQ(gpu_resource(Cloud::aws, role.engine.gpu), "nvidia.com/gpu");
  EXPECT_EQ(device_of(role).per_pod, 8);
}

TEST(PlanNames, WorkloadsOfADisaggregatedServiceAreNamedByRole) {
  ServiceSpec service;
  service.name = "chat";
  EXPECT_EQ(workload_name(service, model::Role::both), "chat");
  EXPECT_EQ(workload_name(service, model::Role::prefill), "chat-prefill");
  EXPECT_EQ(pod_labels(service, model::Role::both).document(), "app.kubernetes.io/name: chat\n");
  EXPECT_EQ(pod_selector(service, model::Role::decode), "app.kubernetes.io/name=chat,capstan.dev/role=decode");
  EXPECT_EQ(workload_kind(service), "Deployment");
  service.pods_per_replica = 2;
  EXPECT_EQ(workload_kind(service), "LeaderWorkerSet");
}

TEST(PlanNames, ObjectsBeginAsPeopleWriteThem) {
  EXPECT_EQ(kube_object("v1", "ConfigMap", "a", "serving").document(),
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  namespace: serving\n");
  EXPECT_EQ(gpu_toleration().document(), "key: nvidia.com/gpu\noperator: Exists\neffect: NoSchedule\n");
  EXPECT_EQ(pool_selector("h100").document(), "capstan.dev/pool: h100\n");
}

TEST(GpuNodeTolerations, AcceptTheSpotNodesOfAks) {
  ClusterSpec cluster{.cloud = Cloud::azure, .provisioner = Provisioner::cluster_autoscaler};
  cluster.capacity = {model::CapacityType::on_demand};
  EXPECT_EQ(gpu_node_tolerations(cluster).document(), Yaml::list({gpu_toleration()}).document());
  cluster.capacity.push_back(model::CapacityType::spot);
  const std::string text = gpu_node_tolerations(cluster).document();
  EXPECT_NE(text.find("kubernetes.azure.com/scalesetpriority\n  operator: Equal\n  value: spot\n"), text.npos) << text;
  cluster.cloud = Cloud::aws;
  EXPECT_EQ(gpu_node_tolerations(cluster).document(), Yaml::list({gpu_toleration()}).document());
}

}  // namespace
}  // namespace capstan::plan
