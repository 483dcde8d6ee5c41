#include "operator/catalog_builder.h"

#include <gtest/gtest.h>
#include "objects.h"

namespace capstan::op {
namespace {

using enum model::TopologyLevel;

TEST(CatalogBuilder, DomainsAreThoseThatLabelsState) {
  CatalogBuilder builder;
  const model::DomainPath full = builder.domains(
      {{"topology.kubernetes.io/zone", "a"}, {"topology.kubernetes.io/rack", "r1"}, {"nvidia.com/gpu.clique", "c.0"}});
  const model::DomainPath bare = builder.domains({});
  const auto catalog = builder.catalog();
  const auto at = [](const model::DomainPath& path, model::TopologyLevel level) {
    return path[static_cast<std::size_t>(level)];
  };
  EXPECT_EQ(catalog->domain(at(full, nvlink)).name, "c.0");
  EXPECT_EQ(catalog->domain(at(full, nvlink)).parent, at(full, rack));
  EXPECT_EQ(catalog->domain(at(full, rack)).parent, at(full, zone));
  EXPECT_EQ(catalog->domain(at(full, zone)).parent, at(full, cluster));
  EXPECT_EQ(at(bare, cluster), at(full, cluster));
  EXPECT_FALSE(at(bare, zone).valid());
  EXPECT_EQ(builder.domains({{"topology.kubernetes.io/zone", "a"}})[3], at(full, zone)) << "the same zone once";
}

TEST(CatalogBuilder, AServiceIsWhatTheScalerSaysOfItsTargets) {
  testing::Cluster cluster;
  testing::Object object = testing::scaler("chat", "chat");
  object["spec"]["roles"][0]["variants"][0]["gpu"] = "h100_sxm";
  object["spec"]["roles"][0]["variants"][0]["minReplicas"] = 9;
  object["spec"]["queue"] = {{"waitingPerReplica", 2}, {"runningPerReplica", 30}};
  object["spec"]["behavior"] = {{"coolDown", "90s"}};
  cluster.scalers.put(object);
  cluster.deployments.put(testing::deployment("chat", 2, 4));
  const ClusterView view = cluster.view();
  CatalogBuilder builder;
  view.scalers.for_each([&](kube::RowId, const InferenceScaler& scaler) {
    const TargetOf target = targets_of(scaler).at(0);
    EXPECT_EQ(target.field, "spec.roles[0].variants[0].targetRef");
    const Targets targets(view);
    const model::Service service = service_of(scaler, target, targets.find("ns", target.variant->target), builder);
    EXPECT_EQ(service.name, "ns/chat");
    EXPECT_EQ(service.max_replicas, 8);
    EXPECT_EQ(service.min_replicas, 8) << "never above the maximum";
    EXPECT_EQ(service.slo.ttft, std::chrono::seconds(2));
    ASSERT_EQ(service.variants.size(), 1u);
    EXPECT_EQ(service.variants[0].tensor_parallel, 4);
    EXPECT_EQ(builder.catalog()->gpu_kind(service.variants[0].gpu), "h100_sxm");

    const auto policy = std::get<decide::scale::QueueHpa>(policy_of(scaler));
    EXPECT_EQ(policy.waiting_per_replica, 2);
    EXPECT_EQ(policy.running_per_replica, 30);
    EXPECT_EQ(policy.hpa.downscale_stabilization, std::chrono::seconds(90));
    EXPECT_TRUE(policy.hpa.silence_holds);
  });
}

}  // namespace
}  // namespace capstan::op
