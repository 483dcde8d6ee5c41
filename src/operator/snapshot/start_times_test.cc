#include "operator/snapshot/start_times.h"

#include <gtest/gtest.h>

#include <list>

namespace capstan::op {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

/// Returns a pod that was bound at `bound_s` and became ready at `ready_s`. Without `ready_s`, it is not ready.
kube::Pod started_pod(std::int64_t bound_s, std::optional<std::int64_t> ready_s) {
  const auto at = [](std::int64_t s) { return kube::WallTime{s * 1'000'000}; };
  kube::Pod pod;
  pod.meta.created_at = at(1);
  pod.conditions.push_back(
      {.type = "PodScheduled", .is_true = true, .is_false = false, .reason = {}, .message = {}, .since = at(bound_s)});
  if (ready_s) {
    pod.conditions.push_back(
        {.type = "Ready", .is_true = true, .is_false = false, .reason = {}, .message = {}, .since = at(*ready_s)});
  }
  return pod;
}

struct Replicas {
  void add(std::vector<kube::Pod> pods) {
    PodGroup& group = groups.emplace_back();
    for (kube::Pod& pod : pods) group.pods.push_back(&all.emplace_back(std::move(pod)));
  }
  std::list<kube::Pod> all;
  std::vector<PodGroup> groups;
};

StartTimes times_of(const std::vector<PodGroup>& groups) {
  StartTimes times;
  for (const PodGroup& group : groups) {
    if (const std::optional<Duration> start = start_of(group)) times.add(*start);
  }
  return times;
}

TEST(StartTimes, PredictsTheUpperQuartileOfEarlierStarts) {
  Replicas replicas;
  EXPECT_TRUE(times_of(replicas.groups).expected_ready_at({}).is_never());
  for (const std::int64_t took : {30, 40, 50, 60}) replicas.add({started_pod(100, 100 + took)});
  replicas.add({started_pod(1'000, std::nullopt)});
  const StartTimes times = times_of(replicas.groups);
  EXPECT_EQ(times.expected_ready_at(replicas.groups.back()), Instant{seconds(1'060)});
}

TEST(StartTimes, ForgetsTheTimesOfReplicasThatAreGone) {
  StartTimes times;
  for (const int took : {50, 30, 60, 40}) times.add(seconds(took));
  EXPECT_EQ(times.typical(), seconds(60));
  times.remove(seconds(60));
  EXPECT_EQ(times.typical(), seconds(50));
  for (const int took : {30, 40, 50}) times.remove(seconds(took));
  EXPECT_EQ(times.typical(), std::nullopt);
}

TEST(StartTimes, AGangStartsWhenItsLastPodHasANode) {
  Replicas replicas;
  replicas.add({started_pod(100, 200), started_pod(150, std::nullopt)});
  replicas.add({started_pod(300, std::nullopt), started_pod(400, std::nullopt)});
  EXPECT_EQ(times_of(replicas.groups).expected_ready_at(replicas.groups.back()), Instant{seconds(450)});
}

TEST(StartTimes, AReplicaThatWasUnreadyForAWhileHasNoStartTime) {
  Replicas replicas;
  replicas.add({started_pod(100, 100 + 2 * 3600)});
  replicas.add({started_pod(500, 400)});  // clocks that jumped
  EXPECT_TRUE(times_of(replicas.groups).expected_ready_at(replicas.groups.back()).is_never());
}

}  // namespace
}  // namespace capstan::op
