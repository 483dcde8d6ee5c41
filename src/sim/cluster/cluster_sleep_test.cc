// Goal: a retired replica sleeps, its GPUs are still paid for, and it is woken before a new replica is created.
#include <gtest/gtest.h>

#include "sim/cluster/cluster.h"
#include "sim/cluster/cluster_fixture.h"

namespace capstan::sim {
namespace {

using namespace test;
using GangPhase = model::Gang::Phase;

/// Three ready replicas. At most one retired replica sleeps, for ten minutes, and wakes in 4 s.
ClusterConfig sleepy_config() {
  ClusterConfig config = small_config();
  config.initial = {{{0}, 3, true}};
  config.starts[0].sleep = {1, std::chrono::minutes(10), Latency::exactly(seconds(4))};
  return config;
}

/// Retires one replica at 10 s. It is asleep at 100 s.
struct Asleep : Bench {
  Asleep() : Bench(sleepy_config()) {
    run_to(at_s(10));
    cluster.submit(scale_to(2));
    run_to(at_s(100));
  }
};

TEST(ClusterSleep, OfTwoScaledDownReplicasOneSleepsAndIsPaidFor) {
  Bench bench(sleepy_config());
  bench.run_to(at_s(10));
  bench.cluster.submit(scale_to(1));
  bench.run_to(at_s(100));
  EXPECT_EQ(bench.truth().gangs.size(), 2u);
  EXPECT_EQ(bench.truth().gangs.at({2}).phase, GangPhase::sleeping);
  EXPECT_EQ(bench.truth().services.at({0}).desired_replicas, 1) << "a sleeping replica does not count as desired";
  EXPECT_EQ(bench.gpu_s(GpuState::sleeping), 4 * 89 - 1) << "rounded down";
  EXPECT_TRUE(bench.serving.draining.contains({2})) << "the replica finished its requests before it slept";
}

TEST(ClusterSleep, AScaleUpWakesASleepingReplicaBeforeItCreatesOne) {
  Asleep bench;
  bench.cluster.submit(scale_to(3));
  bench.run_to(at_s(103));
  EXPECT_EQ(bench.truth().gangs.at({2}).phase, GangPhase::starting);
  bench.run_to(at_s(105));
  EXPECT_EQ(bench.truth().gangs.at({2}).phase, GangPhase::ready);
  EXPECT_EQ(bench.truth().gangs.size(), 3u);
  const ClusterMeter total = bench.cluster.meter(at_s(105));
  EXPECT_EQ(total.wakes, 1);
  EXPECT_EQ(total.cold_starts, 0);
}

TEST(ClusterSleep, ASleepingReplicaEndsAfterItsLongestSleep) {
  Asleep bench;
  bench.run_to(at_s(600));
  EXPECT_EQ(bench.truth().gangs.size(), 3u);
  bench.run_to(at_s(620));
  EXPECT_EQ(bench.truth().gangs.size(), 2u);
}

TEST(ClusterSleep, AWokenReplicaSleepsForTheFullTimeAgain) {
  Asleep bench;
  bench.run_to(at_s(300));
  bench.cluster.submit(scale_to(3));
  bench.run_to(at_s(400));
  bench.cluster.submit(scale_to(2));
  bench.run_to(at_s(700));
  EXPECT_EQ(bench.truth().gangs.size(), 3u) << "the replica has slept only since 400 s";
}

TEST(ClusterSleep, AnEvictedSleepingReplicaIsNotReplaced) {
  Asleep bench;
  const model::PodId pod = bench.truth().gangs.at({2}).pods.front();
  bench.cluster.submit(action(model::EvictPod{pod}));
  bench.run_to(at_s(200));
  EXPECT_EQ(bench.truth().gangs.size(), 2u);
  EXPECT_TRUE(bench.serving.killed_gangs.empty()) << "a sleeping replica holds no requests to cut";
}

}  // namespace
}  // namespace capstan::sim
