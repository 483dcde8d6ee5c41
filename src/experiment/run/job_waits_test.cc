// Goal: a long wait of batch jobs is a moment that names the full queue, and a short wait is none.
#include "experiment/run/job_waits.h"

#include <gtest/gtest.h>

#include <memory>

namespace capstan::experiment {
namespace {

using namespace std::chrono_literals;

/// Queue `batch` with eight GPUs, which one job holds, and two jobs of eight GPUs that wait from the start.
struct WaitBench {
  WaitBench() {
    auto catalog = std::make_shared<model::Catalog>();
    model::Queue queue;
    queue.name = "batch";
    queue.gpus.limit = whole_gpus(8);
    catalog->queues.push_back(queue);
    truth.catalog = catalog;
    sim::JobClass made;
    made.name = "train";
    made.queue = {0};
    config.job_classes.push_back(made);
    config.jobs.resize(3);
    for (std::uint32_t job = 0; job < 3; ++job) add(job);
  }
  void add(std::uint32_t job) {
    model::Gang gang;
    gang.ordinal = job;
    gang.pods = {model::PodId{job}};
    gang.spec.pods = {.gpu = {0}, .count = 1, .gpus_per_pod = whole_gpus(8)};
    model::Pod pod;
    pod.gang = {job};
    pod.gpus = whole_gpus(8);
    pod.queue = {0};
    if (job == 2) {
      gang.phase = model::Gang::Phase::ready;
      pod.node = {0};
    }
    truth.pods.set({job}, pod);
    truth.gangs.set({job}, gang);
  }
  model::Snapshot truth;
  sim::ClusterConfig config;
};

TEST(JobWaits, ALongWaitNamesTheFullQueue) {
  WaitBench bench;
  JobWaits waits(bench.config);
  for (auto at = 1min; at <= 12min; at += 1min) waits.minute(Instant{at}, bench.truth);
  const std::vector<Moment> moments = waits.take_moments();
  ASSERT_EQ(moments.size(), 1u);
  EXPECT_EQ(moments[0].sentence,
            "2 jobs of train waited for 16 GPUs, the oldest for 10 min; queue batch holds 8 of its 8 GPUs");
  EXPECT_EQ(moments[0].reason, "jobs_waited");
  EXPECT_EQ(moments[0].weight, 48) << "three minutes of 16 GPUs";
  EXPECT_TRUE(waits.take_moments().empty());
}

TEST(JobWaits, AShortWaitIsNoMoment) {
  WaitBench bench;
  JobWaits waits(bench.config);
  for (auto at = 1min; at < 10min; at += 1min) waits.minute(Instant{at}, bench.truth);
  EXPECT_TRUE(waits.take_moments().empty());
}

TEST(JobWaits, WithoutALimitNoQueueIsFull) {
  WaitBench bench;
  bench.config.job_classes[0].queue = {};
  JobWaits waits(bench.config);
  waits.minute(Instant{11min}, bench.truth);
  EXPECT_TRUE(waits.take_moments().front().sentence.ends_with("; no queue was full"));
}

}  // namespace
}  // namespace capstan::experiment
