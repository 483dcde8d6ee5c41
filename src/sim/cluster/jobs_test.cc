// Goal: batch jobs arrive, wait, compute and end, and a job that loses a pod goes on from its last checkpoint.
#include "sim/cluster/jobs.h"

#include <gtest/gtest.h>

#include "sim/cluster/cluster.h"
#include "sim/cluster/cluster_fixture.h"

namespace capstan::sim {
namespace {

using namespace test;

/// Returns small_config() with one job of two pods with four GPUs each. The job takes 10 s to start and then computes
/// for 100 s.
ClusterConfig with_job(Duration checkpoint_every) {
  ClusterConfig config = small_config();
  config.job_classes = {{.name = "train",
                         .gpu = {0},
                         .required_level = model::TopologyLevel::node,
                         .queue = {},
                         .start = Latency::exactly(seconds(10)),
                         .checkpoint_every = checkpoint_every}};
  config.jobs = {{at_s(20), 0, 2, whole_gpus(4), seconds(100)}};
  config.pod_creation = Latency::exactly(seconds(2));
  return config;
}

struct JobBench {
  explicit JobBench(const ClusterConfig& config) : cluster(config, 1, serving) {}

  /// Returns the only gang of a job.
  model::GangId gang() const {
    model::GangId found;
    cluster.truth().gangs.for_each([&](model::GangId id, const model::Gang& row) {
      if (!row.service.valid()) found = id;
    });
    return found;
  }
  void bind(std::initializer_list<std::uint32_t> nodes) {
    model::BindPods bind{.gang = gang(), .bindings = {}};
    const std::vector<model::PodId> pods = cluster.truth().gangs.at(gang()).pods;
    for (const std::uint32_t node : nodes) bind.bindings.push_back({pods[bind.bindings.size()], {node}});
    cluster.submit(action(bind));
  }
  void to(std::int64_t s) {
    cluster.advance(at_s(s));
    cluster.check_invariants();
  }
  const JobProgress& job() const { return cluster.jobs().progress().front(); }

  FakeServing serving;
  Cluster cluster;
};

TEST(Jobs, AJobWaitsForNodesThenComputesAndEnds) {
  JobBench bench(with_job({}));
  bench.to(19);
  EXPECT_TRUE(bench.cluster.jobs().progress().empty());
  bench.to(30);
  ASSERT_TRUE(bench.gang().valid());
  EXPECT_EQ(bench.cluster.truth().gangs.at(bench.gang()).phase, model::Gang::Phase::pending);
  bench.bind({0, 0});
  bench.to(41);
  EXPECT_EQ(bench.cluster.truth().gangs.at(bench.gang()).phase, model::Gang::Phase::ready);
  EXPECT_EQ(bench.job().started_at, at_s(40) + milliseconds(100));
  bench.to(150);
  EXPECT_EQ(bench.job().ended_at, at_s(140) + milliseconds(100));
  EXPECT_FALSE(bench.gang().valid());
  EXPECT_TRUE(bench.cluster.jobs().have_all_ended());
  const ClusterMeter meter = bench.cluster.meter(at_s(150));
  EXPECT_EQ(meter.gpu_milliseconds(GpuState::busy), 8 * 100'000) << "eight GPUs for the work of the job";
  EXPECT_EQ(meter.gpu_milliseconds(GpuState::starting), 8 * 10'000);
  ASSERT_EQ(meter.by_user.size(), 4u) << "rows: two services, one class of jobs, GPUs without a pod";
  EXPECT_EQ(meter.by_user[2].gpu_time, GpuTime{8'000} * Duration(seconds(110)).count());
  EXPECT_TRUE(bench.serving.serving.empty()) << "no request goes to a job";
}

TEST(Jobs, APodThatWaitsForTheOthersIsReplacedAlone) {
  JobBench bench(with_job({}));
  bench.to(30);
  bench.bind({0});
  bench.to(31);
  const model::PodId kept = bench.cluster.truth().gangs.at(bench.gang()).pods[1];
  bench.cluster.submit(action(model::EvictPod{bench.cluster.truth().gangs.at(bench.gang()).pods[0]}));
  bench.to(32);
  EXPECT_EQ(bench.cluster.truth().gangs.at(bench.gang()).pods[1], kept);
  EXPECT_EQ(bench.job().restarts, 0);
}

TEST(Jobs, ARestartGoesOnFromTheLastCheckpoint) {
  for (const auto& [every, saved] : {std::pair{seconds(30), seconds(60)}, {seconds(0), seconds(0)}}) {
    JobBench bench(with_job(every));
    bench.to(30);
    bench.bind({0, 0});
    bench.cluster.advance(at_s(115) + milliseconds(50));  // it has computed for 74.95 s
    bench.cluster.submit(action(model::EvictPod{bench.cluster.truth().gangs.at(bench.gang()).pods[0]}));
    bench.to(116);
    EXPECT_EQ(bench.job().restarts, 1);
    EXPECT_EQ(bench.job().saved, saved);
    EXPECT_EQ(bench.job().lost, seconds(75) - saved);
    EXPECT_FALSE(bench.gang().valid()) << "its controller makes a new gang later";
    bench.to(118);
    bench.bind({1, 1});
    bench.to(128);
    bench.to(300);
    EXPECT_EQ(bench.job().ended_at, at_s(128) + milliseconds(100) + seconds(100) - saved);
    const ClusterMeter meter = bench.cluster.meter(at_s(300));
    EXPECT_EQ(meter.gpu_milliseconds(GpuState::busy), 8 * (100'000 + bench.job().lost / milliseconds(1)))
        << "work that was lost was paid for, too";
    EXPECT_EQ(meter.job_restarts[static_cast<std::size_t>(Interruption::eviction)], 1);
  }
}

TEST(Jobs, AnEndedNodeRestartsTheJobsOnIt) {
  JobBench bench(with_job({}));
  bench.to(30);
  bench.bind({1, 1});
  bench.to(60);
  bench.cluster.submit(action(model::TerminateNode{{1}}));
  bench.to(61);
  EXPECT_EQ(bench.job().restarts, 1);
  EXPECT_EQ(bench.cluster.meter(at_s(61)).job_restarts[static_cast<std::size_t>(Interruption::termination)], 1);
}

}  // namespace
}  // namespace capstan::sim
