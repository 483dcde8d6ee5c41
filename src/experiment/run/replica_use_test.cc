#include "experiment/run/replica_use.h"

#include <gtest/gtest.h>

namespace capstan::experiment {
namespace {

using std::chrono::seconds;

/// One ready replica of two GPUs on a node of eight GPUs that costs 72 USD/h.
model::Snapshot state(int second, std::int64_t running, std::int64_t tokens) {
  model::Snapshot now;
  now.at = {seconds(second)};
  model::Gang gang;
  gang.phase = model::Gang::Phase::ready;
  gang.service = {0};
  gang.pods = {{0}};
  model::Pod pod;
  pod.gang = {0};
  pod.gpus = whole_gpus(2);
  pod.node = {0};
  model::ReplicaSignals signals;
  signals.running = model::Signal::measured(running);
  signals.waiting = model::Signal::measured(0);
  signals.generated_tokens_total = model::Signal::measured(tokens);
  signals.finished_total = model::Signal::measured(tokens / 10);
  now.gangs.set({0}, gang);
  now.pods.set({0}, pod);
  now.signals.set({0}, signals);
  return now;
}

TEST(ReplicaUse, SumsUpTokensAndIdleTimeByMinute) {
  ReplicaUse use;
  std::vector<UseMinute> minutes;
  std::int64_t revision = 0;
  const auto note = [&](const model::Snapshot& now) {
    use.note(
        now, [](const model::Gang&) { return std::optional<std::size_t>(0); },
        [](model::NodeId) { return ReplicaUse::NodePrice{8, MicroUsd{72'000'000}}; }, ++revision, minutes);
  };
  note(state(0, 3, 1000));  // it may have served before, so these tokens are not counted
  note(state(30, 0, 1600));
  note(state(60, 0, 1600));
  note(state(75, 2, 1700));
  note(state(90, 2, 40));  // the engine restarted
  ASSERT_EQ(minutes.size(), 2U);
  EXPECT_EQ(minutes[0].tokens, 600);
  EXPECT_EQ(minutes[0].requests, 60);
  EXPECT_DOUBLE_EQ(minutes[0].idle_gpu_s, 60) << "30 s of two GPUs";
  EXPECT_DOUBLE_EQ(minutes[0].idle_usd, 0.15) << "a GPU costs 9 USD/h";
  EXPECT_EQ(minutes[1].minute, 1);
  EXPECT_EQ(minutes[1].tokens, 140);
  EXPECT_EQ(minutes[1].requests, 14);
  EXPECT_DOUBLE_EQ(minutes[1].idle_gpu_s, 30);
  EXPECT_EQ(minutes[1].revision, 5);
}

TEST(ReplicaUse, AReplicaWithoutAReadingIsNotIdle) {
  ReplicaUse use;
  std::vector<UseMinute> minutes;
  for (const int second : {0, 15}) {
    model::Snapshot now = state(second, 0, 0);
    now.signals.set({0}, {});
    use.note(
        now, [](const model::Gang&) { return std::optional<std::size_t>(0); },
        [](model::NodeId) { return ReplicaUse::NodePrice{}; }, second, minutes);
  }
  EXPECT_TRUE(minutes.empty());
}

}  // namespace
}  // namespace capstan::experiment
