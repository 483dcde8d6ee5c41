// Goal: each reading updates the rates once, and each start adds one lead time.
#include "decide/scale/capstan/load.h"

#include <gtest/gtest.h>

namespace capstan::decide::scale {
namespace {

using model::Gang;
using std::chrono::seconds;

WorkloadView::Replica replica(std::uint32_t id, Gang::Phase phase, std::int64_t tokens, Duration age = {}) {
  WorkloadView::Replica made{{id}, phase, {}, {}};
  if (phase != Gang::Phase::ready) return made;
  model::ReplicaSignals& s = made.signals;
  s.waiting = model::Signal::measured(1, age);
  s.running = model::Signal::measured(10, age);
  s.prompt_tokens_total = model::Signal::measured(4 * tokens, age);
  s.generated_tokens_total = model::Signal::measured(tokens, age);
  return made;
}

Load load_of(std::vector<WorkloadView::Replica> replicas, CapstanMemory& memory, std::int64_t at) {
  WorkloadView role;
  role.current = static_cast<ReplicaCount>(replicas.size());
  role.replicas = std::move(replicas);
  return read_load(role, memory, {seconds(at)});
}

TEST(Load, ACounterGivesARateOnlyAfterItsSecondReading) {
  CapstanMemory memory;
  EXPECT_EQ(load_of({replica(0, Gang::Phase::ready, 5000)}, memory, 0).generated_rate, 0);
  const Load load = load_of({replica(0, Gang::Phase::ready, 5300)}, memory, 15);
  EXPECT_DOUBLE_EQ(load.generated_rate, 20);
  EXPECT_DOUBLE_EQ(load.prompt_rate, 80);
  EXPECT_EQ(load.running, 10);
}

TEST(Load, ARepeatedReadingChangesNothing) {
  CapstanMemory memory;
  load_of({replica(0, Gang::Phase::ready, 5000)}, memory, 0);
  load_of({replica(0, Gang::Phase::ready, 5300)}, memory, 15);
  EXPECT_DOUBLE_EQ(load_of({replica(0, Gang::Phase::ready, 5300)}, memory, 20).generated_rate, 20);
  EXPECT_DOUBLE_EQ(load_of({replica(0, Gang::Phase::ready, 5300)}, memory, 50).generated_rate, 0)
      << "an unchanged counter after 30 s means it is idle";
}

TEST(Load, ASilentReplicaKeepsItsLastLoad) {
  CapstanMemory memory;
  load_of({replica(0, Gang::Phase::ready, 5000)}, memory, 0);
  load_of({replica(0, Gang::Phase::ready, 5300)}, memory, 15);
  WorkloadView::Replica silent = replica(0, Gang::Phase::ready, 0);
  silent.signals = {};
  const Load load = load_of({silent}, memory, 300);
  EXPECT_EQ(load.silent, 1);
  EXPECT_DOUBLE_EQ(load.generated_rate, 20);
}

TEST(Load, TheDemandOnDecodeIsThePromptsOfItsPrefillReplicas) {
  CapstanMemory memory;
  WorkloadView role;
  role.role = model::Role::decode;
  role.current = 1;
  role.replicas = {replica(1, Gang::Phase::ready, 5000)};
  role.prefill_replicas = {replica(0, Gang::Phase::ready, 100), replica(2, Gang::Phase::ready, 200)};
  read_load(role, memory, {});
  role.replicas = {replica(1, Gang::Phase::ready, 5300)};
  role.prefill_replicas = {replica(0, Gang::Phase::ready, 115), replica(2, Gang::Phase::ready, 230)};
  const Load load = read_load(role, memory, {seconds(15)});
  EXPECT_DOUBLE_EQ(load.generated_rate, 20) << "its own tokens";
  EXPECT_DOUBLE_EQ(load.prompt_rate, 4 + 8) << "the prompts of the prefill replicas";
  EXPECT_EQ(load.running, 10);
  EXPECT_EQ(load.serving, 1);
  EXPECT_EQ(load.expected_readings, 3);
  EXPECT_EQ(load.replicas.size(), 1u);
  role.prefill_replicas.back().signals = {};
  EXPECT_EQ(read_load(role, memory, {seconds(30)}).silent, 1) << "a silent prefill replica counts as silent";
}

TEST(Load, DecodeWithoutVisiblePrefillReplicasUsesItsOwnCounters) {
  CapstanMemory memory;
  WorkloadView role;
  role.role = model::Role::decode;
  role.current = 1;
  role.replicas = {replica(0, Gang::Phase::ready, 5000)};
  read_load(role, memory, {});
  role.replicas = {replica(0, Gang::Phase::ready, 5300)};
  EXPECT_DOUBLE_EQ(read_load(role, memory, {seconds(15)}).prompt_rate, 80);
}

TEST(Load, PrefillReplicasDoNotDisplaceOwnReplicasAtTheLimit) {
  CapstanMemory memory;
  WorkloadView role;
  role.role = model::Role::decode;
  role.current = 1;
  for (std::uint32_t id = 0; id < CapstanMemory::kMaxReplicas; ++id) {
    role.prefill_replicas.push_back(replica(id, Gang::Phase::ready, 100));
  }
  role.replicas = {replica(5000, Gang::Phase::ready, 5000)};
  EXPECT_EQ(read_load(role, memory, {}).running, 10);
  EXPECT_EQ(memory.counters.size(), CapstanMemory::kMaxReplicas);
}

TEST(Load, AStartBecomesALeadTime) {
  CapstanMemory memory;
  WorkloadView role;
  EXPECT_FALSE(lead_time(role, 0, memory.leads, {}).is_known);
  load_of({replica(0, Gang::Phase::starting, 0)}, memory, 10);
  load_of({replica(0, Gang::Phase::ready, 0)}, memory, 45);
  ASSERT_EQ(memory.leads.size(), 1u);
  const Lead lead = lead_time(role, 0, memory.leads, {seconds(60)});
  EXPECT_TRUE(lead.is_known);
  EXPECT_EQ(lead.time, seconds(45));
}

TEST(Load, ANewReplicasFirstIntervalIsThatOfTheOthers) {
  CapstanMemory memory;
  load_of({replica(0, Gang::Phase::ready, 5000), replica(1, Gang::Phase::starting, 0)}, memory, 0);
  load_of({replica(0, Gang::Phase::ready, 5300), replica(1, Gang::Phase::starting, 0)}, memory, 15);
  // The new replica serves from second 25 on and takes over work of the other one. Both are read at second 30.
  WorkloadView::Replica unread = replica(1, Gang::Phase::ready, 0);
  unread.signals = {};
  load_of({replica(0, Gang::Phase::ready, 5300), unread}, memory, 25);
  const Load load = load_of({replica(0, Gang::Phase::ready, 5480), replica(1, Gang::Phase::ready, 120)}, memory, 30);
  EXPECT_DOUBLE_EQ(load.generated_rate, 12 + 8) << "not 24 in the last five seconds";
}

TEST(Load, ARepeatedReadingOfTheGatewayDoesNotChangeTheRate) {
  CapstanMemory memory;
  const auto queue_rate = [&](std::int64_t held, std::int64_t at) {
    WorkloadView role;
    role.gateway_waiting = model::Signal::measured(held);
    return read_load(role, memory, {seconds(at)}).queue_rate;
  };
  queue_rate(0, 0);
  EXPECT_DOUBLE_EQ(queue_rate(150, 15), 10);
  EXPECT_DOUBLE_EQ(queue_rate(150, 20), 10) << "the same reading";
  EXPECT_DOUBLE_EQ(queue_rate(300, 30), 10) << "the interval is 15 s, not 10 s";
  EXPECT_DOUBLE_EQ(queue_rate(300, 60), 0) << "unchanged for two scrapes";
}

TEST(Load, AStartInProgressThatTakesLongerIsTheLeadTime) {
  CapstanMemory memory;
  memory.leads = {seconds(30), seconds(30)};
  WorkloadView role;
  role.replicas = {replica(0, Gang::Phase::starting, 0)};
  EXPECT_EQ(lead_time(role, 0, memory.leads, {seconds(200)}).time, seconds(200));
}

TEST(Load, AnEngineWithoutKvUsageIsAssumedToHoldAsMuchPerSequenceAsTheOthers) {
  CapstanMemory memory;
  const auto with_kv = [](std::uint32_t id, std::int64_t kv_ppm) {
    WorkloadView::Replica made = replica(id, Gang::Phase::ready, 5000);
    if (kv_ppm > 0) made.signals.kv_usage_ppm = model::Signal::measured(kv_ppm);
    return made;
  };
  const Load all = load_of({with_kv(0, 200'000), with_kv(1, 400'000)}, memory, 0);
  EXPECT_DOUBLE_EQ(all.kv_used, 0.6);
  EXPECT_EQ(all.without_kv, 0);
  const Load half = load_of({with_kv(0, 200'000), with_kv(1, 0)}, memory, 15);
  EXPECT_DOUBLE_EQ(half.kv_used, 0.4) << "ten sequences hold 0.2, and twenty are running";
  EXPECT_EQ(half.without_kv, 1);
  EXPECT_EQ(load_of({with_kv(0, 0), with_kv(1, 0)}, memory, 30).kv_used, 0) << "no engine reports it";
}

TEST(Load, TtftIsUnknownIfPromptsAreComputedAndNoEngineReportsIt) {
  CapstanMemory memory;
  const auto read = [&](std::int64_t tokens, std::int64_t ttft_us, std::int64_t at) {
    WorkloadView::Replica made = replica(0, Gang::Phase::ready, tokens);
    if (ttft_us > 0) made.signals.ttft_p99_us = model::Signal::measured(ttft_us);
    return load_of({made}, memory, at).ttft_unknown();
  };
  EXPECT_FALSE(read(5000, 0, 0)) << "it may be idle";
  EXPECT_TRUE(read(6000, 0, 15));
  EXPECT_FALSE(read(7000, 300'000, 30));
  EXPECT_FALSE(read(7000, 0, 75)) << "it is idle";
}

TEST(Load, RenumberedReplicasKeepTheirState) {
  CapstanMemory memory;
  load_of({replica(3, Gang::Phase::ready, 5000), replica(5, Gang::Phase::ready, 7000),
           replica(8, Gang::Phase::starting, 0), replica(9, Gang::Phase::ready, 100)},
          memory, 0);
  const CapstanMemory before = memory;
  renumber(memory, [](model::GangId id) { return id.value == 9 ? model::GangId{} : model::GangId{20 - id.value}; });
  ASSERT_EQ(memory.counters.size(), 2u) << "one was dropped";
  EXPECT_EQ(memory.counters[0].id, model::GangId{15}) << "in the order of the new ids";
  EXPECT_EQ(memory.counters[0].generated_tokens, 7000);
  EXPECT_EQ(memory.counters[1].id, model::GangId{17});
  EXPECT_EQ(memory.starting, (std::vector<CapstanMemory::StartingReplica>{{model::GangId{12}}}));
  renumber(memory, [](model::GangId id) { return model::GangId{20 - id.value}; });
  CapstanMemory without = before;
  without.counters.pop_back();
  EXPECT_EQ(memory, without);
}

}  // namespace
}  // namespace capstan::decide::scale
