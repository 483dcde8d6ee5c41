// Goal: the guarantees of Capstan's own policy for any load. Method: a service with constant request flow, so that each
// number can be checked by hand; the effect of noise is tested in the simulator (experiment/run/own_policy_test.cc).
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <functional>

#include "decide/scale/capstan/step.h"
#include "decide/testing/fluid_service.h"

namespace capstan::decide::scale {
namespace {

using model::ReasonCode;
using testing::FluidService;

constexpr double kSteady = 40;  // requests/s: 40,000 prompt tokens/s and 8,000 generated tokens/s

/// Runs `intervals` scrape intervals of the same load and returns the last decision.
Decision pass(FluidService& service, Memory& memory, int intervals, double requests_per_s) {
  Decision last;
  for (int i = 0; i < intervals; ++i) last = service.pass(requests_per_s, memory);
  return last;
}

TEST(OwnPolicy, SizesByTheEngineTableFromTheFirstReadings) {
  FluidService service(4);
  Memory memory;
  const Decision decision = pass(service, memory, 4, kSteady);
  ASSERT_TRUE(decision.sizing.has_value());
  const Sizing& s = *decision.sizing;
  EXPECT_TRUE(s.modelled);
  EXPECT_NEAR(static_cast<double>(s.prompt_tokens_per_s), 40'000, 1);
  EXPECT_NEAR(static_cast<double>(s.generated_tokens_per_s), 8'000, 1);
  // On an H100 a prompt token takes about 20 us and a generated token about 100 us: 0.8 + 0.8 replicas.
  EXPECT_GT(s.demand_milli, 1'000);
  EXPECT_LT(s.demand_milli, 2'500);
  EXPECT_GE(s.needed_milli, s.forecast_milli);
  EXPECT_GE(s.forecast_milli, s.demand_milli) << "the forecast is never below the demand now";
}

TEST(OwnPolicy, RespondsToAFivefoldStepInTheFirstDecisionAfterIt) {
  FluidService service(4);
  Memory memory;
  const Decision before = pass(service, memory, 40, kSteady);
  const Decision after = service.pass(5 * kSteady, memory);
  EXPECT_GE(after.desired, 4 * before.sizing->demand_milli / 1000);
  EXPECT_EQ(after.sizing->demand_milli / 1000, 5 * before.sizing->demand_milli / 1000);
}

TEST(OwnPolicy, ScalesDownOnlyAfterARoundTrip) {
  FluidService service(4);
  Memory memory;
  pass(service, memory, 40, 5 * kSteady);
  const ReplicaCount high = service.role().current;
  ReplicaCount lowered_after_s = 0;
  for (int i = 1; i <= 240 && lowered_after_s == 0; ++i) {
    if (service.pass(kSteady, memory).desired < high) lowered_after_s = i * 15;
  }
  EXPECT_GE(lowered_after_s, 2 * 60) << "a start takes 60 s, and a round trip twice that";
  EXPECT_LE(lowered_after_s, 600);
  EXPECT_LT(pass(service, memory, 160, kSteady).desired, high / 2) << "finally only the needed replicas are left";
}

TEST(OwnPolicy, IsStableUnderASteadyLoad) {
  FluidService service(4);
  Memory memory;
  pass(service, memory, 100, kSteady);
  ReplicaCount last = service.role().current;
  int changes = 0;
  for (int i = 0; i < 480; ++i) {
    const ReplicaCount next = service.pass(kSteady, memory).desired;
    EXPECT_LE(next, last) << "without misses the margin shrinks, so the count never rises";
    changes += next != last;
    last = next;
  }
  EXPECT_LE(changes, 1);
}

TEST(OwnPolicy, UsesTheEnginesCountOfSlowAnswersIfThereIsOne) {
  FluidService service(4);
  Memory memory;
  const auto missed_ppm = [&](double token_s, std::optional<std::int64_t> counted_ppm) {
    service.token_s(token_s);
    for (WorkloadView::Replica& replica : service.role().replicas) {
      replica.signals.tpot_late_ppm = counted_ppm ? model::Signal::measured(*counted_ppm) : model::Signal{};
    }
    return pass(service, memory, 2, kSteady).sizing->missed_ppm;
  };
  EXPECT_EQ(missed_ppm(0.010, {}), 0);
  EXPECT_NEAR(static_cast<double>(missed_ppm(0.050, {})), 500'000, 50'000) << "half miss if the mean equals the bound";
  EXPECT_EQ(missed_ppm(0.050, 12'000), 12'000);
  EXPECT_EQ(missed_ppm(0.010, 12'000), 12'000);
  EXPECT_EQ(missed_ppm(0.010, -5), 0) << "not a share, so the estimate is used";
}

TEST(OwnPolicy, ASilentReplicaPreventsScaleDown) {
  FluidService service(8);
  Memory memory;
  pass(service, memory, 8, kSteady);
  const ReplicaCount before = service.role().current;
  service.silence(1);
  for (int i = 0; i < 400; ++i) {
    const Decision decision = service.pass(1, memory);
    ASSERT_GE(decision.desired, before);
  }
  EXPECT_EQ(service.pass(1, memory).why.code, ReasonCode::signal_missing);
  EXPECT_GT(pass(service, memory, 4, 20 * kSteady).desired, before) << "a silent replica does not prevent a scale-up";
  service.silence(0);
  EXPECT_LT(pass(service, memory, 400, 1).desired, before);
}

TEST(OwnPolicy, ACounterResetIsNotLoad) {
  FluidService service(4);
  Memory memory;
  const Decision before = pass(service, memory, 20, kSteady);
  service.restart_counters();
  const Decision after = service.pass(kSteady, memory);
  EXPECT_LE(after.sizing->demand_milli, before.sizing->demand_milli + 50);
}

TEST(OwnPolicy, ImplausibleReadingsCountAsSilence) {
  FluidService service(4);
  Memory memory;
  pass(service, memory, 20, kSteady);
  for (const std::int64_t absurd : {std::int64_t{-1}, INT64_MIN, INT64_MAX}) {
    WorkloadView role = service.role();
    for (WorkloadView::Replica& replica : role.replicas) {
      for (model::Signal* s : {&replica.signals.waiting, &replica.signals.running, &replica.signals.kv_usage_ppm})
        *s = model::Signal::measured(absurd);
    }
    Memory copy = memory;
    const Decision decision = decide(role, Capstan{}, copy, service.now() + std::chrono::seconds(20));
    EXPECT_EQ(decision.desired, role.current) << absurd;
  }
}

TEST(OwnPolicy, LearnsTheRealStepTimes) {
  FluidService service(4);
  service.token_s(0.05);
  Memory memory;
  const Decision decision = pass(service, memory, 240, kSteady);
  // 50 ms per token is several times what an H100 needs: the correction grows to its clamp and no further.
  EXPECT_GT(decision.sizing->correction_ppm, 1'500'000);
  EXPECT_LE(decision.sizing->correction_ppm, 2'000'000);
}

TEST(OwnPolicy, ScalesToZeroOnlyIfAGatewayHoldsNewRequests) {
  for (const bool heard : {true, false}) {
    FluidService service(1);
    service.role().min = 0;
    if (!heard) service.role().gateway_waiting = {};
    Memory memory;
    const Decision decision = pass(service, memory, 200, 0);
    EXPECT_EQ(decision.desired, heard ? 0 : 1);
    if (!heard) continue;
    service.role().gateway_waiting = model::Signal::measured(3);
    const Decision woken = decide(service.role(), Capstan{}, memory, service.now() + std::chrono::seconds(20));
    EXPECT_EQ(woken.desired, 1);
    EXPECT_EQ(woken.why, (model::Reason{ReasonCode::wake_for_waiting, {3, 1}}));
  }
}

/// Returns the decision after ten minutes of `requests_per_s` and half an hour without requests.
Decision after_a_break(double requests_per_s, Capstan::ScaleToZero to_zero, Memory& memory) {
  FluidService service(1);
  service.role().min = 0;
  const Capstan policy{.to_zero = to_zero};
  for (int i = 0; i < 40; ++i) service.pass(requests_per_s, memory, policy);
  Decision last;
  for (int i = 0; i < 120; ++i) last = service.pass(0, memory, policy);
  return last;
}

TEST(OwnPolicy, StaysWarmIfAColdStartWouldDelayMoreRequestsThanTheSloAllows) {
  Memory memory;
  const Decision kept = after_a_break(2, Capstan::ScaleToZero::within_slo, memory);
  EXPECT_EQ(kept.desired, 1);
  EXPECT_EQ(kept.why.code, ReasonCode::minimum_warm);
  ASSERT_TRUE(kept.sizing && kept.sizing->warm);
  const WarmSizing& warm = *kept.sizing->warm;
  EXPECT_EQ(warm.wakes, 1);
  EXPECT_NEAR(static_cast<double>(warm.requests), 1200, 100);
  EXPECT_NEAR(static_cast<double>(warm.requests_late), 2 * 180, 60) << "the assumed start time is three minutes";
  EXPECT_NEAR(static_cast<double>(warm.requests_allowed), 6, 1) << "0.5 %: half of the error budget";
  EXPECT_EQ(warm.replicas, 1);
  memory = {};
  const Decision asleep = after_a_break(2, Capstan::ScaleToZero::after_idle, memory);
  EXPECT_EQ(asleep.desired, 0);
  EXPECT_FALSE(asleep.sizing->warm);
}

/// Runs a steady load with replicas placed round-robin over the zones.
Decision over_zones(FluidService& service, Memory& memory, ReplicaCount zones, int intervals) {
  Decision last;
  for (int i = 0; i < intervals; ++i) {
    Spread spread{.domains = zones, .held = {}};
    for (WorkloadView::Replica& replica : service.role().replicas) {
      replica.domain = replica.id.value % static_cast<std::uint32_t>(zones);
      spread.held.resize(static_cast<std::size_t>(zones));
      ++spread.held[replica.domain];
    }
    std::ranges::sort(spread.held, std::greater());
    service.role().spread = spread;
    last = service.pass(3 * kSteady, memory);
  }
  return last;
}

TEST(OwnPolicy, TheLossOfAZoneLeavesTheNeededReplicas) {
  FluidService service(8);
  Memory of_zones;
  const Decision decision = over_zones(service, of_zones, 3, 320);
  ASSERT_TRUE(decision.spread);
  const ReplicaCount need = decision.spread->need;
  EXPECT_EQ(need, decision.stabilized);
  EXPECT_EQ(need, whole_replicas(static_cast<double>(decision.sizing->needed_milli) / 1000.0))
      << "the need follows from the load, not from the fleet";
  EXPECT_EQ(decision.desired, need + (need + 1) / 2);
  EXPECT_GE(decision.spread->left(), need);
  EXPECT_EQ(decision.why.code, ReasonCode::loss_survived);
  const ReplicaCount settled = decision.desired;
  EXPECT_EQ(over_zones(service, of_zones, 3, 320).desired, settled) << "the result is stable";
}

TEST(OwnPolicy, AFleetInASingleZoneKeepsItsWindows) {
  FluidService service(8);
  Memory memory;
  const ReplicaCount settled = over_zones(service, memory, 3, 320).desired;
  for (const double load : {1.0, 1.5, 1.0}) {
    service.role().spread = Spread{.domains = 3, .is_enforced = false, .held = {settled}};
    const Decision decision = service.pass(load * kSteady, memory);
    EXPECT_LT(decision.proposed, decision.stabilized);
    EXPECT_EQ(decision.desired, settled) << "no replica stops or starts within the window";
  }
}

TEST(OwnPolicy, WithASingleZoneNoReplicasAreAdded) {
  FluidService service(8);
  Memory memory;
  const Decision decision = over_zones(service, memory, 1, 320);
  EXPECT_EQ(decision.why.code, ReasonCode::loss_not_survived);
  FluidService plain(8);
  Memory of_plain;
  EXPECT_EQ(decision.desired, pass(plain, of_plain, 320, 3 * kSteady).desired);
}

TEST(OwnPolicy, LearnsAModelThatTheEngineTableDoesNotKnow) {
  FluidService service(4);
  service.role().engine = nullptr;
  Memory memory;
  const Decision decision = pass(service, memory, 240, kSteady);
  EXPECT_FALSE(decision.sizing->modelled);
  EXPECT_GE(decision.desired, 1);
  EXPECT_LE(decision.desired, 20);
}

RC_GTEST_PROP(OwnPolicy, RepeatsItsDecisionFromSavedMemory, ()) {
  FluidService service(*rc::gen::inRange<ReplicaCount>(1, 12), std::chrono::seconds(*rc::gen::inRange(0, 400)));
  Memory memory;
  const auto loads = *rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 400));
  for (const int load : loads) {
    if (*rc::gen::inRange(0, 5) == 0) service.silence(static_cast<std::size_t>(*rc::gen::inRange(0, 3)));
    service.pass(load, memory);
    const std::string text = to_text(memory);
    Result<Memory> parsed = parse_memory(text);
    RC_ASSERT(parsed.has_value());
    RC_ASSERT((*parsed == memory));
    Memory again = *parsed;
    Memory copy = memory;
    const Instant next = service.now() + std::chrono::seconds(20);
    const Decision a = decide(service.role(), Capstan{}, copy, next);
    const Decision b = decide(service.role(), Capstan{}, again, next);
    RC_ASSERT(plan_hash(a.plan) == plan_hash(b.plan));
    RC_ASSERT(to_text(copy) == to_text(again));
  }
}

/// The readings also correct the modelled capacity of a replica. At a slightly higher load, the corrected need may
/// round to one replica less.
RC_GTEST_PROP(OwnPolicy, MoreDemandGetsAtMostOneReplicaLess, ()) {
  const auto replicas = *rc::gen::inRange<ReplicaCount>(1, 12);
  const int before = *rc::gen::inRange(1, 200);
  const int less = *rc::gen::inRange(1, 400);
  const int more = less + *rc::gen::inRange(0, 400);
  const auto needed = [&](int load) {
    FluidService service(replicas);
    Memory memory;
    pass(service, memory, 30, before);
    return service.pass(load, memory).desired;
  };
  RC_ASSERT(needed(less) <= needed(more) + 1);
}

TEST(OwnPolicy, TheMinimumOfAWindowServesWhenItBegins) {
  FluidService service(1, std::chrono::seconds(120));
  const std::vector<model::BoundsWindow> windows = {
      {*Cron::parse("30 0 * * *"), std::chrono::hours(1), 5, std::nullopt}};
  service.role().windows = &windows;
  Memory memory;
  std::optional<Instant> asked;
  while (service.now() < Instant{std::chrono::minutes(30)}) {
    const Decision decision = service.pass(1, memory);
    if (!asked && decision.desired == 5) {
      asked = service.now();
      EXPECT_EQ(decision.why.code, ReasonCode::minimum_ahead);
    }
  }
  EXPECT_EQ(service.ready(), 5);
  ASSERT_TRUE(asked);
  EXPECT_GT(*asked, Instant{std::chrono::minutes(18)}) << "but not long before";
}

TEST(OwnPolicy, ItsSavedMemoryIsAFewKilobytes) {
  FluidService service(64);
  service.role().min = 64;
  Memory memory;
  std::int64_t load = 1;
  for (int i = 0; i < 1000; ++i) {
    load = (load * 7919 + 13) % 997;
    service.pass(static_cast<double>(load), memory);
  }
  EXPECT_LE(memory.capstan->need_peaks.size(), CapstanMemory::kMaxNeeds);
  EXPECT_LE(memory.capstan->forecasts.size(), CapstanMemory::kMaxForecasts);
  EXPECT_LE(memory.capstan->leads.size(), CapstanMemory::kMaxLeads);
  EXPECT_LT(to_text(memory).size(), 8'000u);
}

TEST(OwnPolicy, WithoutFirstTokenTimesTheSafetyIsNotLowered) {
  testing::FluidService reporting(4), silent(4);
  Memory with_ttft, without_ttft;
  for (int i = 0; i < 120; ++i) {
    reporting.pass(20, with_ttft);
    silent.hide_first_tokens();
    silent.pass(20, without_ttft);
  }
  EXPECT_LT(with_ttft.capstan->safety_milli, without_ttft.capstan->safety_milli);
}

}  // namespace
}  // namespace capstan::decide::scale
