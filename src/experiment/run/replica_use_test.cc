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

TEST(ReplicaUse, SumsUpThePhasesOfTheRequestsOfEnginesThatReportAllOfThem) {
  const auto measured = [](std::int64_t value) { return model::Signal::measured(value); };
  ReplicaUse use;
  std::vector<UseMinute> minutes;
  const auto note = [&](std::int64_t at_s, std::int64_t requests, bool reports_decode) {
    model::Snapshot now = state(at_s, 1, 10 * requests);
    model::ReplicaSignals signals = now.signals_of({0});
    signals.queue_us_total = measured(requests * 100);
    signals.prefill_us_total = measured(requests * 200);
    if (reports_decode) signals.decode_us_total = measured(requests * 3000);
    signals.transfer_us_total = measured(requests * 50);
    signals.transfers_total = measured(requests);
    now.signals.set({0}, signals);
    use.note(
        now, [](const model::Gang&) { return std::optional<std::size_t>(0); },
        [](model::NodeId) { return ReplicaUse::NodePrice{}; }, at_s, minutes);
  };
  note(0, 1000, true);
  note(30, 1004, true);
  note(60, 1009, false);
  ASSERT_EQ(minutes.size(), 2U);
  EXPECT_EQ(minutes[0].timed_requests, 4);
  EXPECT_EQ(minutes[0].queue_us, 400);
  EXPECT_EQ(minutes[0].prefill_us, 800);
  EXPECT_EQ(minutes[0].decode_us, 12'000);
  EXPECT_EQ(minutes[0].transfer_us, 200);
  EXPECT_EQ(minutes[0].transfers, 4);
  EXPECT_EQ(minutes[1].requests, 5);
  EXPECT_EQ(minutes[1].timed_requests + minutes[1].queue_us + minutes[1].transfers, 0)
      << "the time in decode is not known";
}

TEST(ReplicaUse, APhaseThatAnEngineDoesNotReportIsPartOfTheNext) {
  const auto measured = [](std::int64_t value) { return model::Signal::measured(value); };
  for (const bool has_queue : {false, true}) {
    ReplicaUse use;
    std::vector<UseMinute> minutes;
    for (const std::int64_t at_s : {0, 30}) {
      const std::int64_t requests = 1000 + at_s;
      model::Snapshot now = state(static_cast<int>(at_s), 1, 10 * requests);
      model::ReplicaSignals signals = now.signals_of({0});
      (has_queue ? signals.queue_us_total : signals.prefill_us_total) = measured(requests * 100);
      signals.decode_us_total = measured(requests * 3000);
      now.signals.set({0}, signals);
      use.note(
          now, [](const model::Gang&) { return std::optional<std::size_t>(0); },
          [](model::NodeId) { return ReplicaUse::NodePrice{}; }, at_s, minutes);
    }
    ASSERT_EQ(minutes.size(), 1U);
    EXPECT_EQ(minutes[0].timed_requests, 30);
    EXPECT_EQ(minutes[0].prefill_us, 0);
    EXPECT_EQ(minutes[0].queue_us, has_queue ? 3000 : 0);
    EXPECT_EQ(minutes[0].queue_prefill_us, has_queue ? 0 : 3000);
    EXPECT_EQ(minutes[0].decode_us, has_queue ? 0 : 90'000);
    EXPECT_EQ(minutes[0].prefill_decode_us, has_queue ? 90'000 : 0);
  }
}

TEST(ReplicaUse, TimesThatBeginLateCountFromTheirFirstReading) {
  ReplicaUse use;
  std::vector<UseMinute> minutes;
  const auto note = [&](std::int64_t at_s, std::int64_t requests, bool has_times) {
    model::Snapshot now = state(static_cast<int>(at_s), 1, 10 * requests);
    model::ReplicaSignals signals = now.signals_of({0});
    if (has_times) {
      for (const auto field : {&model::ReplicaSignals::queue_us_total, &model::ReplicaSignals::prefill_us_total,
                               &model::ReplicaSignals::decode_us_total}) {
        signals.*field = model::Signal::measured(requests * 100);
      }
    }
    now.signals.set({0}, signals);
    use.note(
        now, [](const model::Gang&) { return std::optional<std::size_t>(0); },
        [](model::NodeId) { return ReplicaUse::NodePrice{}; }, at_s, minutes);
  };
  note(0, 1000, false);
  note(60, 1004, true);  // a later version continues the recording
  note(120, 1009, true);
  ASSERT_EQ(minutes.size(), 2U);
  EXPECT_EQ(minutes[0].queue_us + minutes[0].timed_requests, 0);
  EXPECT_EQ(minutes[1].queue_us, 500);
  EXPECT_EQ(minutes[1].timed_requests, 5);
}

}  // namespace
}  // namespace capstan::experiment
