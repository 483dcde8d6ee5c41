// Goal: the rules as a person reads them: up when any signal crosses, down when all have stayed below. Method: rows of
// what four replicas say, each with the answer that its reader expects.
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

/// What each replica of a row says.
struct Says {
  std::int64_t waiting = 0;
  std::int64_t kv_percent = 50;
  std::int64_t ttft_ms = 500;
  std::int64_t tpot_ms = 30;
};

/// Four replicas that serve, all alike, read twice a quarter of a minute apart.
struct RuledService {
  RoleView role;
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
    RoleView::Replica& replica = role.replicas.emplace_back();
    replica.id = model::GangId{id};
    replica.phase = phase;
  }

  void say(const Says& says) {
    constexpr std::int64_t kRunning = 10;
    if (says.tpot_ms > 0) generated += kRunning * 15'000 / says.tpot_ms;
    for (RoleView::Replica& replica : role.replicas) {
      model::ReplicaSignals& s = replica.signals;
      s.waiting = Signal::of(says.waiting);
      s.running = Signal::of(kRunning);
      s.kv_usage_ppm = Signal::of(says.kv_percent * 10'000);
      s.ttft_p99_us = Signal::of(says.ttft_ms * 1000);
      s.prompt_tokens_total = Signal::of(generated);
      s.generated_tokens_total = Signal::of(generated);
    }
  }

  Decision decide_now(const Rules& rules) {
    now = now + 15s;
    return decide(role, rules, memory, now);
  }

  /// So many times the same, whatever is answered; the last answer.
  Decision pass(const Rules& rules, const Says& says, int intervals) {
    Decision decision;
    for (int i = 0; i < intervals; ++i) {
      say(says);
      decision = decide_now(rules);
    }
    return decision;
  }
};

struct Row {
  std::string what;
  Rules::ScaleOn on;
  Says says;
  ReplicaCount wanted;
  ReasonCode why;
};

TEST(Rules, Rows) {
  using On = Rules::ScaleOn;
  const Says calm{.waiting = 0, .kv_percent = 20, .ttft_ms = 200, .tpot_ms = 20};
  const auto with = [&](auto change) {
    Says says = calm;
    change(says);
    return says;
  };
  const std::vector<Row> rows = {
      {"nothing crosses, nothing is below", On::all, Says{}, 4, ReasonCode::rules_between},
      {"six wait a replica: 24 over 5", On::all, with([](Says& s) { s.waiting = 6; }), 5,
       ReasonCode::queue_above_target},
      {"a hundred wait: twice as many at most", On::all, with([](Says& s) { s.waiting = 100; }), 8,
       ReasonCode::queue_above_target},
      {"five wait: not above", On::queue, with([](Says& s) { s.waiting = 5; }), 4, ReasonCode::rules_between},
      {"KV 96 %: 3.84 over 0.85", On::all, with([](Says& s) { s.kv_percent = 96; }), 5, ReasonCode::kv_above_bound},
      {"the queue has no say", On::kv, Says{.waiting = 50, .kv_percent = 50}, 4, ReasonCode::rules_between},
      {"slow first tokens", On::latency, with([](Says& s) { s.ttft_ms = 1'500; }), 5, ReasonCode::ttft_above_bound},
      {"slow tokens", On::latency, with([](Says& s) { s.tpot_ms = 60; }), 5, ReasonCode::tpot_above_bound},
      {"no replica holds the SLO", On::goodput, with([](Says& s) { s.ttft_ms = 1'500; }), 5,
       ReasonCode::goodput_below_bound},
      {"goodput is whole, the latencies are not below", On::goodput, with([](Says& s) { s.tpot_ms = 45; }), 4,
       ReasonCode::rules_between},
      {"all below", On::all, calm, 3, ReasonCode::rules_all_below},
      {"all below, of the queue alone", On::queue, Says{.waiting = 0, .kv_percent = 99}, 3,
       ReasonCode::rules_all_below},
  };
  for (const Row& row : rows) {
    RuledService service;
    Rules rules;
    rules.scale_on = row.on;
    rules.cool_down = 0s;
    service.pass(rules, row.says, 1);
    const Decision decision = service.pass(rules, row.says, 1);
    EXPECT_EQ(decision.desired, row.wanted) << row.what;
    EXPECT_EQ(model::name(decision.why.code), model::name(row.why)) << row.what;
  }
}

TEST(Rules, DownOnlyWhenAllHaveStayedBelowForTheCoolDown) {
  RuledService service;
  const Rules rules;
  const Says calm{.waiting = 0, .kv_percent = 20, .ttft_ms = 200, .tpot_ms = 20};
  EXPECT_EQ(service.pass(rules, calm, 15).desired, 4);
  EXPECT_EQ(service.pass(rules, calm, 1).why.code, ReasonCode::cooling_down);
  EXPECT_EQ(service.pass(rules, Says{}, 1).why.code, ReasonCode::rules_between) << "the window begins anew";
  EXPECT_EQ(service.pass(rules, calm, 19).desired, 4);
  EXPECT_EQ(service.pass(rules, calm, 3).desired, 3);
}

TEST(Rules, WhatIsOnItsWayIsCounted) {
  RuledService service;
  const Rules rules;
  const Says queue{.waiting = 6};
  ASSERT_EQ(service.pass(rules, queue, 1).desired, 5);
  service.role.current = 5;
  service.add(9, Gang::Phase::starting);
  const Decision again = service.decide_now(rules);
  EXPECT_EQ(again.desired, 5);
  EXPECT_EQ(again.why.code, ReasonCode::rules_on_the_way);
}

TEST(Rules, SilenceLowersNothingAndKeepsNobodyFromRaising) {
  RuledService service;
  Rules rules;
  rules.cool_down = 0s;
  const Says calm{.waiting = 0, .kv_percent = 20, .ttft_ms = 200, .tpot_ms = 20};
  service.say(calm);
  service.role.replicas[2].signals = {};
  EXPECT_EQ(service.decide_now(rules).why.code, ReasonCode::signal_missing);
  EXPECT_EQ(service.decide_now(rules).desired, 4);
  service.say({.waiting = 90});
  service.role.replicas[2].signals = {};
  EXPECT_GT(service.decide_now(rules).desired, 4);
}

TEST(Rules, WhatAnEngineDoesNotTellIsNotBelow) {
  const Says calm{.waiting = 0, .kv_percent = 20, .ttft_ms = 200, .tpot_ms = 20};
  const struct {
    Rules::ScaleOn on;
    model::SignalField untold;
    std::size_t replicas;  ///< that do not tell it
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
      service.say(calm);
      for (std::size_t r = 0; r < row.replicas; ++r) service.role.replicas[r].signals.*row.untold = {};
      const Decision decision = service.decide_now(rules);
      if (i == 0) continue;  // rates take two readings
      EXPECT_EQ(model::name(decision.why.code), model::name(row.why)) << static_cast<int>(row.on);
      EXPECT_EQ(decision.desired, row.why == ReasonCode::signal_missing ? 4 : 3);
    }
  }
}

TEST(Rules, WithoutARuleNothingIsLowered) {
  RuledService service;
  Rules rules;
  rules.cool_down = 0s;
  rules.scale_on = Rules::ScaleOn::latency;
  service.role.slo = {};  // promises no latency
  EXPECT_EQ(service.pass(rules, Says{}, 3).desired, 4);
}

TEST(Rules, NobodyServesAndTheGatewayHolds) {
  RuledService service(0);
  service.role.min = 0;
  EXPECT_EQ(service.decide_now({}).desired, 0);
  service.role.gateway_waiting = Signal::of(3);
  const Decision woken = service.decide_now({});
  EXPECT_EQ(woken.desired, 1);
  EXPECT_EQ(woken.why.code, ReasonCode::wake_for_waiting);
}

TEST(Rules, TheBoundsOfTheServiceStand) {
  RuledService service;
  service.role.max = 6;
  const Decision decision = service.pass({}, {.waiting = 100}, 1);
  EXPECT_EQ(decision.desired, 6);
  EXPECT_EQ(decision.why.code, ReasonCode::at_maximum);
}

/// Four replicas, two in each of two zones.
RuledService in_two_zones() {
  RuledService service;
  for (RoleView::Replica& replica : service.role.replicas) replica.domain = replica.id.value % 2;
  service.role.spread = Spread{.domains = 2, .held = {2, 2}};
  return service;
}

TEST(Rules, ThoseThatALossLeavesHaveToCarryWhatAllCarryNow) {
  RuledService service = in_two_zones();
  const Rules queue{.scale_on = Rules::ScaleOn::queue};
  EXPECT_EQ(service.pass(queue, Says{.waiting = 2}, 2).desired, 4) << "four each would wait for the two that are left";
  const Decision more = service.pass(queue, Says{.waiting = 3}, 1);
  EXPECT_EQ(more.desired, 6) << "six each: three have to be left";
  ASSERT_TRUE(more.spread);
  EXPECT_EQ(more.spread->domains, 2);
}

TEST(Rules, WhatCannotSurviveIsTold) {
  RuledService service = in_two_zones();
  service.role.spread = Spread{.domains = 1, .held = {4}};
  const Decision alone = service.pass(Rules{}, Says{}, 2);
  EXPECT_EQ(alone.desired, 4);
  EXPECT_EQ(alone.why.code, ReasonCode::loss_not_survived);
}

TEST(Rules, OneThatStillServesWhereNoneIsAskedForIsOne) {
  RuledService service = in_two_zones();
  service.role.current = service.role.min = 0;
  const Decision last = service.pass(Rules{.scale_on = Rules::ScaleOn::queue}, Says{.waiting = 3}, 2);
  ASSERT_EQ(last.readings.size(), 1u);
  EXPECT_EQ(last.readings[0].mean_milli, 12'000) << "all that wait, for one";
  EXPECT_GE(last.desired, 0);
}

}  // namespace
}  // namespace capstan::decide::scale
