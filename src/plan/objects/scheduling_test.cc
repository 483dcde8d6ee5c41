#include "plan/objects/scheduling.h"

#include <gtest/gtest.h>

namespace capstan::plan {
namespace {

PlanSpec scheduling_spec(std::int64_t pods, std::size_t tenants, GangScheduler scheduler) {
  PlanSpec spec;
  spec.name = "GPU fleet, west";
  spec.cluster.gang_scheduler = scheduler;
  spec.services.resize(1);
  spec.services[0].name = "chat";
  spec.services[0].pods_per_replica = pods;
  for (std::size_t i = 0; i < tenants; ++i) spec.tenants.push_back({.name = "tenant-" + std::to_string(i)});
  return spec;
}

/// Returns a role whose replicas have this many GPUs, on nodes of `per_node` GPUs.
RoleFleet gang_role(GpuCount gpus, GpuCount per_node) {
  RoleFleet role;
  role.engine.tp = gpus;
  role.pods = 2;
  role.machine = {.gpus = per_node};
  return role;
}

TEST(PlanScheduling, TheDefaultSchedulerIsEnoughForSinglePodsOfOneTenant) {
  const PlanSpec spec = scheduling_spec(1, 1, GangScheduler::kai);
  EXPECT_FALSE(needs_gangs(spec));
  EXPECT_EQ(pod_scheduler(spec), GangScheduler::none);
  EXPECT_EQ(scheduler_name(spec), "");
  EXPECT_TRUE(queue_labels(spec, "tenant-0").empty());
  EXPECT_TRUE(topology_annotations(spec, spec.services[0], gang_role(16, 8)).empty());
}

TEST(PlanScheduling, JobsOfTheOnlyTenantNeedAGangScheduler) {
  PlanSpec spec = scheduling_spec(1, 1, GangScheduler::kueue);
  EXPECT_FALSE(has_jobs(spec));
  spec.tenants[0].jobs.resize(1);
  EXPECT_TRUE(has_jobs(spec));
  EXPECT_EQ(pod_scheduler(spec), GangScheduler::kueue);
}

TEST(PlanScheduling, SeveralTenantsHaveQueuesAlsoWithoutGangs) {
  const PlanSpec kai = scheduling_spec(1, 2, GangScheduler::kai);
  EXPECT_EQ(scheduler_name(kai), "kai-scheduler");
  EXPECT_EQ(queue_labels(kai, "tenant-1").document(), "kai.scheduler/queue: tenant-1\n");
  const PlanSpec kueue = scheduling_spec(1, 2, GangScheduler::kueue);
  EXPECT_EQ(scheduler_name(kueue), "");
  EXPECT_EQ(queue_labels(kueue, "tenant-1").document(), "kueue.x-k8s.io/queue-name: tenant-1\n");
}

TEST(PlanScheduling, PodsOfATenantWithAQuotaMayStartAboveIt) {
  PlanSpec spec = scheduling_spec(1, 2, GangScheduler::kai);
  spec.tenants[1].gpu_quota = 16;
  EXPECT_EQ(queue_labels(spec, "tenant-0").document(), "kai.scheduler/queue: tenant-0\n");
  EXPECT_EQ(queue_labels(spec, "tenant-1").document(),
            "kai.scheduler/queue: tenant-1\n# may start above the quota\nkai.scheduler/preemptibility: preemptible\n");
}

TEST(PlanScheduling, AGangStaysInOneNvlinkDomainOrZone) {
  PlanSpec spec = scheduling_spec(2, 1, GangScheduler::kai);
  spec.cluster.machines = {{.name = "p5.48xlarge", .gpus = 8, .nvlink_domain_gpus = 8}};
  EXPECT_EQ(topology_annotations(spec, spec.services[0], gang_role(16, 8)).document(),
            "kai.scheduler/topology: gpu-fleet-west\n"
            "kai.scheduler/topology-required-placement: topology.kubernetes.io/zone\n");
  spec.cluster.machines = {{.name = "p6e-gb200.36xlarge", .gpus = 4, .nvlink_domain_gpus = 72}};
  EXPECT_EQ(required_level(spec, gang_role(16, 4)), "nvidia.com/gpu.clique");
  EXPECT_EQ(required_level(spec, gang_role(144, 4)), "topology.kubernetes.io/zone");
  spec.cluster.gang_scheduler = GangScheduler::kueue;
  EXPECT_EQ(topology_annotations(spec, spec.services[0], gang_role(16, 8)).document(),
            "kueue.x-k8s.io/podset-required-topology: nvidia.com/gpu.clique\n"
            "kueue.x-k8s.io/podset-group-name: chat\n");
  spec.cluster.gang_scheduler = GangScheduler::none;
  EXPECT_EQ(topology_annotations(spec, spec.services[0], gang_role(16, 8)).document(),
            "leaderworkerset.sigs.k8s.io/exclusive-topology: nvidia.com/gpu.clique\n");
}

TEST(PlanScheduling, AGangThatFitsOnOneNodeStaysThere) {
  // A replica has 2 pods of 4 GPUs, and a node has 8 GPUs. On two half-free nodes, the 8 GPUs of the tensor-parallel
  // group would communicate over the network.
  PlanSpec spec = scheduling_spec(2, 1, GangScheduler::kueue);
  spec.cluster.machines = {{.name = "p5.48xlarge", .gpus = 8, .nvlink_domain_gpus = 8}};
  EXPECT_EQ(required_level(spec, gang_role(8, 8)), "kubernetes.io/hostname");
  EXPECT_EQ(required_level(spec, gang_role(9, 8)), "topology.kubernetes.io/zone");
  EXPECT_EQ(topology_annotations(spec, spec.services[0], gang_role(8, 8)).document(),
            "kueue.x-k8s.io/podset-required-topology: kubernetes.io/hostname\n"
            "kueue.x-k8s.io/podset-group-name: chat\n");
}

TEST(PlanScheduling, TheQueueOfTheClusterIsNamedLikeThePlan) {
  PlanSpec spec = scheduling_spec(1, 1, GangScheduler::kai);
  EXPECT_EQ(cluster_queue_name(spec), "gpu-fleet-west");
  spec.name = "tenant-0";
  EXPECT_EQ(cluster_queue_name(spec), "tenant-0-all");
  spec.name = "!";
  EXPECT_EQ(cluster_queue_name(spec), "gpus");
}

}  // namespace
}  // namespace capstan::plan
