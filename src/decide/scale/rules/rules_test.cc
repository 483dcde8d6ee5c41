// Goal: the rules scale up when any signal crosses its upper bound, and down when all have stayed below their lower
// bounds. Method: rows with the readings of four replicas and the expected answer.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "decide/scale/scale.h"

namespace capstan::decide::scale {
namespace {

using namespace std::chrono_literals;
using model::Gang;
using model::ReasonCode;
using model::Signal;

/// The readings of each replica of a row.
struct Readings {
  std::int64_t waiting = 0;
  std::int64_t kv_percent = 50;
  std::int64_t ttft_ms = 500;
  std::int64_t tpot_ms = 30;
};

/// Four identical serving replicas with readings every 15 s.
struct RuledService {
  WorkloadView role;
  Memory memory;
  Instant now{};
  std::int64_t generated = 0;

  explicit RuledService(ReplicaCount replicas = 4) {
    now = Instant{} + 1h;
    role.current = replicas;
    role.max = 64;
    role.min = 1;
    role.slo.ttft = 1s;
    role.slo.tpot = 50ms;
    for (std::uint32_t i = 0; i < replicas; ++i) add(i, Gang::Phase::ready);
  }

  void add(std::uint32_t id, Gang::Phase phase) {
    WorkloadView::Replica& replica = role.replicas.emplace_back();
    replica.id = model::GangId{id};
    replica.phase = phase;
  }

  void report(const Readings& readings) {
    constexpr std::int64_t kRunning = 10;
    if (readings.tpot_ms > 0) generated += kRunning * 15'000 / readings.tpot_ms;
    for (WorkloadView::Replica& replica : role.replicas) {
      model::ReplicaSignals& s = replica.signals;
      s.waiting = Signal::measured(readings.waiting);
      s.running = Signal::measured(kRunning);
      s.kv_usage_ppm = Signal::measured(readings.kv_percent * 10'000);
      s.ttft_p99_us = Signal::measured(readings.ttft_ms * 1000);
      s.prompt_tokens_total = Signal::measured(generated);
      s.generated_tokens_total = Signal::measured(generated);
    }
  }

  Decision decide_now(const Rules& rules) {
    now = now + 15s;
    return decide(role, rules, memory, now);
  }

  /// Applies the same readings `intervals` times and returns the last decision.
  Decision pass(const Rules& rules, const Readings& readings, int intervals) {
    Decision decision;
    for (int i = 0; i < intervals; ++i) {
      report(readings);
      decision = decide_now(rules);
    }
    return decision;
  }
};

struct RulesRow {
  std::string what;
  Rules::ScaleOn on;
  Readings readings;
  ReplicaCount proposed;
  ReasonCode why;
};

TEST(Rules, AppliesEachThreshold) {
  using On = Rules::ScaleOn;
  const Readings calm{.waiting = 0, .kv_percent = 20, .ttft_ms = 200, .tpot_ms = 20};
  const auto with = [&](auto change) {
    Readings readings = calm;
    change(readings);
    return readings;
  };
  const std::vector<RulesRow> rows = {
      {"all signals are between their bounds", On::all, Readings{}, 4, ReasonCode::rules_between},
      {"6 waiting per replica: 24 over 5", On::all, with([](Readings& s) { s.waiting = 6; }), 5,
       ReasonCode::queue_above_target},
      {"100 waiting per replica: at most double", On::all, with([](Readings& s) { s.waiting = 100; }), 8,
       ReasonCode::queue_above_target},
      {"5 waiting per replica: not above the bound", On::queue, with([](Readings& s) { s.waiting = 5; }), 4,
       ReasonCode::rules_between},
      {"KV 96 %: 3.84 over 0.85", On::all, with([](Readings& s) { s.kv_percent = 96; }), 5, ReasonCode::kv_above_bound},
      {"only KV counts: the queue is ignored", On::kv, Readings{.waiting = 50, .kv_percent = 50}, 4,
       ReasonCode::rules_between},
      {"TTFT above its bound", On::latency, with([](Readings& s) { s.ttft_ms = 1'500; }), 5,
       ReasonCode::ttft_above_bound},
      {"TPOT above its bound", On::latency, with([](Readings& s) { s.tpot_ms = 60; }), 5, ReasonCode::tpot_above_bound},
      {"no replica holds the SLO", On::goodput, with([](Readings& s) { s.ttft_ms = 1'500; }), 5,
       ReasonCode::goodput_below_bound},
      {"full goodput, but a latency is not below its bound", On::goodput, with([](Readings& s) { s.tpot_ms = 45; }), 4,
       ReasonCode::rules_between},
      {"all signals below their bounds", On::all, calm, 3, ReasonCode::rules_all_below},
      {"only the queue counts and is below its bound", On::queue, Readings{.waiting = 0, .kv_percent = 99}, 3,
       ReasonCode::rules_all_below},
  };
  for (const RulesRow& row : rows) {
    RuledService service;
    Rules rules;
    rules.scale_on = row.on;
    rules.cool_down = 0s;
    service.pass(rules, row.readings, 1);
    const Decision decision = service.pass(rules, row.readings, 1);
    EXPECT_EQ(decision.desired, row.proposed) << row.what;
    EXPECT_EQ(model::name(decision.why.code), model::name(row.why)) << row.what;
  }
}

TEST(Rules, ScaleDownNeedsAllSignalsBelowForTheCoolDown) {
  RuledService service;
  const Rules rules;
  const Readings calm{.waiting = 0, .kv_percent = 20, .ttft_ms = 200, .tpot_ms = 20};
  EXPECT_EQ(service.pass(rules, calm, 15).desired, 4);
  EXPECT_EQ(service.pass(rules, calm, 1).why.code, ReasonCode::cooling_down);
  EXPECT_EQ(service.pass(rules, Readings{}, 1).why.code, ReasonCode::rules_between) << "this restarts the window";
  EXPECT_EQ(service.pass(rules, calm, 19).desired, 4);
  EXPECT_EQ(service.pass(rules, calm, 3).desired, 3);
}

TEST(Rules, ReplicasOnTheirWayAreCounted) {
  RuledService service;
  const Rules rules;
  const Readings queue{.waiting = 6};
  ASSERT_EQ(service.pass(rules, queue, 1).desired, 5);
  service.role.current = 5;
  service.add(9, Gang::Phase::starting);
  const Decision again = service.decide_now(rules);
  EXPECT_EQ(again.desired, 5);
  EXPECT_EQ(again.why.code, ReasonCode::rules_on_the_way);
}

TEST(Rules, AStartingReplicaPreventsScaleDown) {
  RuledService service;
  Rules rules;
  rules.cool_down = 0s;
  service.report({.waiting = 0, .kv_percent = 20, .ttft_ms = 200, .tpot_ms = 20});
  service.add(9, Gang::Phase::starting);
  service.role.current = 5;
  service.decide_now(rules);
  const Decision decision = service.decide_now(rules);
  EXPECT_EQ(decision.desired, 5);
  EXPECT_EQ(model::name(decision.why.code), model::name(ReasonCode::rules_starting));
}

TEST(Rules, ASilentReplicaPreventsScaleDownAndNotScaleUp) {
  RuledService service;
  Rules rules;
  rules.cool_down = 0s;
  const Readings calm{.waiting = 0, .kv_percent = 20, .ttft_ms = 200, .tpot_ms = 20};
  service.report(calm);
  service.role.replicas[2].signals = {};
  EXPECT_EQ(service.decide_now(rules).why.code, ReasonCode::signal_missing);
  EXPECT_EQ(service.decide_now(rules).desired, 4);
  service.report({.waiting = 90});
  service.role.replicas[2].signals = {};
  EXPECT_GT(service.decide_now(rules).desired, 4);
}

TEST(Rules, AnUnreportedSignalIsNotBelowItsBound) {
  const Readings calm{.waiting = 0, .kv_percent = 20, .ttft_ms = 200, .tpot_ms = 20};
  const struct {
    Rules::ScaleOn on;
    model::SignalField unreported;
    std::size_t replicas;  ///< replicas that do not report the signal
    ReasonCode why;
  } rows[] = {
      {Rules::ScaleOn::all, &model::ReplicaSignals::kv_usage_ppm, 4, ReasonCode::signal_missing},
      {Rules::ScaleOn::kv, &model::ReplicaSignals::kv_usage_ppm, 1, ReasonCode::signal_missing},
      {Rules::ScaleOn::queue, &model::ReplicaSignals::kv_usage_ppm, 4, ReasonCode::rules_all_below},
      {Rules::ScaleOn::latency, &model::ReplicaSignals::ttft_p99_us, 4, ReasonCode::signal_missing},
      {Rules::ScaleOn::latency, &model::ReplicaSignals::ttft_p99_us, 3, ReasonCode::rules_all_below},
      {Rules::ScaleOn::kv, &model::ReplicaSignals::ttft_p99_us, 4, ReasonCode::rules_all_below},
  };
  for (const auto& row : rows) {
    RuledService service;
    Rules rules;
    rules.cool_down = 0s;
    rules.scale_on = row.on;
    for (int i = 0; i < 3; ++i) {
      service.report(calm);
      for (std::size_t r = 0; r < row.replicas; ++r) service.role.replicas[r].signals.*row.unreported = {};
      const Decision decision = service.decide_now(rules);
      if (i == 0) continue;  // a rate needs two readings
      EXPECT_EQ(model::name(decision.why.code), model::name(row.why)) << static_cast<int>(row.on);
      EXPECT_EQ(decision.desired, row.why == ReasonCode::signal_missing ? 4 : 3);
    }
  }
}

TEST(Rules, WithoutAnyRuleNothingIsScaledDown) {
  RuledService service;
  Rules rules;
  rules.cool_down = 0s;
  rules.scale_on = Rules::ScaleOn::latency;
  service.role.slo = {};  // states no latency bound
  EXPECT_EQ(service.pass(rules, Readings{}, 3).desired, 4);
}

TEST(Rules, WakesForRequestsInTheGateway) {
  RuledService service(0);
  service.role.min = 0;
  EXPECT_EQ(service.decide_now({}).desired, 0);
  service.role.gateway_waiting = Signal::measured(3);
  const Decision woken = service.decide_now({});
  EXPECT_EQ(woken.desired, 1);
  EXPECT_EQ(woken.why.code, ReasonCode::wake_for_waiting);
}

TEST(Rules, TheServicesBoundsApply) {
  RuledService service;
  service.role.max = 6;
  const Decision decision = service.pass({}, {.waiting = 100}, 1);
  EXPECT_EQ(decision.desired, 6);
  EXPECT_EQ(decision.why.code, ReasonCode::at_maximum);
}

/// Makes four replicas, two in each of two zones.
RuledService in_two_zones() {
  RuledService service;
  for (WorkloadView::Replica& replica : service.role.replicas) replica.domain = replica.id.value % 2;
  service.role.spread = Spread{.domains = 2, .held = {2, 2}};
  return service;
}

TEST(Rules, TheSurvivorsOfALossMustCarryTheCurrentLoad) {
  RuledService service = in_two_zones();
  const Rules queue{.scale_on = Rules::ScaleOn::queue};
  EXPECT_EQ(service.pass(queue, Readings{.waiting = 2}, 2).desired, 4) << "8 waiting over two survivors: 4 each";
  const Decision more = service.pass(queue, Readings{.waiting = 3}, 1);
  EXPECT_EQ(more.desired, 6) << "12 waiting over two survivors: three must be left";
  ASSERT_TRUE(more.spread);
  EXPECT_EQ(more.spread->domains, 2);
}

TEST(Rules, ReportsThatALossCannotBeSurvived) {
  RuledService service = in_two_zones();
  service.role.spread = Spread{.domains = 1, .held = {4}};
  const Decision alone = service.pass(Rules{}, Readings{}, 2);
  EXPECT_EQ(alone.desired, 4);
  EXPECT_EQ(alone.why.code, ReasonCode::loss_not_survived);
}

TEST(Rules, AReplicaThatStillServesCountsThoughNoneIsRequested) {
  RuledService service = in_two_zones();
  service.role.current = service.role.min = 0;
  const Decision last = service.pass(Rules{.scale_on = Rules::ScaleOn::queue}, Readings{.waiting = 3}, 2);
  ASSERT_EQ(last.readings.size(), 1u);
  EXPECT_EQ(last.readings[0].mean_milli, 12'000) << "all waiting requests per one replica";
  EXPECT_GE(last.desired, 0);
}

}  // namespace
}  // namespace capstan::decide::scale
