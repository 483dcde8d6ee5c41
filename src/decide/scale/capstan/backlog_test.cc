// Goal: sizing uses the queue's length at the time when more replicas are ready, and ignores a queue that is gone by
// then.
#include "decide/scale/capstan/backlog.h"

#include <gtest/gtest.h>

namespace capstan::decide::scale {
namespace {

using model::Gang;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr std::uint32_t kServing = 4;
constexpr Duration kLead = minutes(5);

/// Four H100 replicas at their planned load, and optionally others that start.
struct Queue {
  WorkloadView role{};
  Capstan policy{};
  Memory memory{};
  Instant now{minutes(60)};
  Duration since_last = seconds(5);

  Queue() {
    role.slo = {.ttft = seconds(1), .tpot = std::chrono::milliseconds(50), .e2e = {}};
    role.engine = *engine::EngineTable::bundled().find("Llama-3.1-8B", "H100", 1, "bfloat16");
    role.max = 100;
    for (std::uint32_t id = 0; id < kServing; ++id) role.replicas.push_back({{id}, Gang::Phase::ready, {}, {}});
    role.current = kServing;
  }

  void start(int replicas, Duration ago) {
    for (int i = 0; i < replicas; ++i) {
      role.replicas.push_back(
          {{static_cast<std::uint32_t>(role.replicas.size())}, Gang::Phase::starting, now - ago, {}});
    }
    role.current += replicas;
  }

  /// Returns a step with `queued` requests beyond the capacity of the serving replicas.
  Step step(double queued) {
    Step made = observe(role, policy, load_memory(memory, now), now);
    made.lead = kLead;
    made.since_last = since_last;
    made.load.running = made.sequences_serving();
    made.load.gateway_queued = queued;
    return made;
  }

  CapstanMemory& remembered() { return *memory.capstan; }
};

/// Returns the requests that `replicas` serve in this time.
double served(const Step& step, double replicas, Duration in) {
  return replicas * step.requests_per_s() * in_seconds(in);
}

TEST(Backlog, IsZeroWithoutAQueue) {
  Queue queue;
  Step step = queue.step(0);
  EXPECT_EQ(backlog(step, 9), 0) << "demand is sized elsewhere";
  EXPECT_EQ(step.need.backlog_drains, Duration{});
}

TEST(Backlog, SizesTheFutureQueueAndNotTheCurrentOne) {
  Queue queue;
  Step step = queue.step(10);
  // Demand exceeds the serving replicas by two for one lead time. The resulting queue has to be drained in a quarter of
  // that time, which takes four times as many replicas.
  EXPECT_NEAR(backlog(step, kServing + 2), 2 * 4, 0.2);
  EXPECT_GT(step.need.backlog_drains, minutes(60)) << "the counted replicas never drain it";
}

TEST(Backlog, IsZeroIfTheQueueIsGoneSoonAfterANewReplicaWouldBeReady) {
  Queue queue;
  Step step = queue.step(20);
  EXPECT_EQ(backlog(step, kServing - 1), 0) << "one replica is spare";
  EXPECT_GT(step.need.backlog_drains, Duration{});
  EXPECT_LT(step.need.backlog_drains, kLead);
}

TEST(Backlog, StartingReplicasServeFromWhenTheyAreReady) {
  Queue queue;
  queue.start(4, minutes(4));
  Step step = queue.step(10);
  // Arrivals take six of the eight replicas. The other two drain the rest of the queue.
  EXPECT_EQ(backlog(step, kServing + 2), 0);
  Queue later;
  later.start(4, minutes(1));
  Step late = later.step(10);
  const double left = 10 + served(late, 2, kLead) - served(late, 4, minutes(1));
  EXPECT_NEAR(backlog(late, kServing + 2), left / served(late, 1, kLead / 4), 0.01);
}

TEST(Backlog, APendingReplicaWithUnavailableGpusDrainsNothing) {
  Queue queue;
  queue.start(4, minutes(4));
  for (WorkloadView::Replica& replica : queue.role.replicas) {
    if (replica.phase == Gang::Phase::starting) replica.phase = Gang::Phase::pending;
  }
  Step step = queue.step(10);
  step.variants.front().denied = true;
  EXPECT_NEAR(backlog(step, kServing + 2), 2 * 4, 0.2);
}

TEST(Backlog, AGrowingQueueShowsThatReplicasServeLessThanTheModelPredicts) {
  Queue queue;
  Step step = queue.step(100);
  backlog(step, kServing - 1);
  double last = 0;
  for (int i = 1; i <= 60; ++i) {
    Step next = queue.step(100 + 5 * i * 2.0);  // two requests/s, for five minutes
    last = backlog(next, kServing - 1);
  }
  const double left = 700 + 2 * in_seconds(kLead);
  EXPECT_NEAR(last, left / served(step, 1, kLead / 4), 0.1 * last)
      << "although the engine table predicts one spare replica";
}

TEST(Backlog, WithoutAnEarlierReadingAQueueDoesNotCountAsGrowing) {
  Queue queue;
  Step step = queue.step(10);
  EXPECT_EQ(backlog(step, 1), 0);
  EXPECT_NEAR(static_cast<double>(queue.remembered().in_flight_mean_milli), step.load.in_flight() * 1000, 1);
}

TEST(Backlog, AQueueCountsAsDrainingUntilItsLastAnswersAreCounted) {
  Queue queue;
  Step grows = queue.step(50);
  grows.load.queue_rate = 1;
  EXPECT_FALSE(is_queue_draining(grows));
  Step shrinks = queue.step(50);
  shrinks.load.queue_rate = -1;
  EXPECT_TRUE(is_queue_draining(shrinks));
  Step gone = queue.step(0);
  EXPECT_TRUE(is_queue_draining(gone)) << "the counters are up to half a minute old";
  queue.now = queue.now + minutes(10);
  Step after = queue.step(0);
  EXPECT_FALSE(is_queue_draining(after));
}

}  // namespace
}  // namespace capstan::decide::scale
