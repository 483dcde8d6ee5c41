#include "model/workload.h"

#include <gtest/gtest.h>

namespace capstan::model {
namespace {

TEST(Workload, DividesTheGpusOfAReplicaAmongItsPods) {
  const struct {
    std::int32_t gpus_per_replica;
    std::int32_t pods;
    std::int64_t milli_per_pod;
  } rows[] = {{8, 1, 8'000}, {16, 2, 8'000}, {1, 4, 250}, {1, 2'000, 1}};
  for (const auto& row : rows) {
    Workload workload;
    workload.gpu = {2};
    workload.pod_class = {5};
    workload.gpus_per_replica = row.gpus_per_replica;
    workload.pods = row.pods;
    workload.required_level = TopologyLevel::rack;
    const GangSpec expected{
        .pods = {.gpu = {2}, .count = row.pods, .gpus_per_pod = {row.milli_per_pod}, .pod_class = {5}, .minimum = 0},
        .required_level = TopologyLevel::rack};
    EXPECT_EQ(workload.gang(), expected) << row.gpus_per_replica << " GPUs on " << row.pods << " pods";
  }
}

TEST(Workload, ALeaderHasItsOwnRequestAndTheOtherPodsShareTheRest) {
  Workload workload;
  workload.gpus_per_replica = 16;
  workload.pods = 3;
  workload.pod_class = {5};
  workload.leader = {.gpus = {}, .pod_class = {6}};
  const GangSpec led = workload.gang();
  EXPECT_EQ(led.pods.count, 2);
  EXPECT_EQ(led.pods.gpus_per_pod, whole_gpus(8)) << "a leader without GPUs is no worker";
  ASSERT_EQ(led.other_pods.size(), 1u);
  EXPECT_EQ(led.other_pods[0].count, 1);
  EXPECT_EQ(led.other_pods[0].gpus_per_pod, MilliGpu{});
  EXPECT_EQ(led.other_pods[0].pod_class, PodClassId{6});
  EXPECT_EQ(led.gpus(), whole_gpus(16));

  workload.leader->gpus = whole_gpus(8);
  const GangSpec large = workload.gang();
  EXPECT_EQ(large.pods.gpus_per_pod, whole_gpus(8)) << "the set with the most GPUs per pod is the first one";
  EXPECT_EQ(large.pods.count, 1);
  EXPECT_EQ(large.other_pods.front().gpus_per_pod, whole_gpus(4));
  EXPECT_EQ(large.other_pods.front().count, 2);
}

}  // namespace
}  // namespace capstan::model
