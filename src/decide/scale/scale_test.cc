#include "decide/scale/scale.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

#include "fleet/testing/world.h"

namespace capstan::decide::scale {
namespace {

using fleet::testing::at;
using model::Gang;
using model::ReasonCode;
using model::Signal;

/// Makes a view: `ready` replicas have the reading, `pending` ones are pending, and `silent` ones are ready without a
/// reading.
WorkloadView role(ReplicaCount ready, std::int64_t reading, ReplicaCount pending = 0, ReplicaCount silent = 0) {
  WorkloadView view;
  view.service = {0};
  view.min = 1;
  view.max = 20;
  const auto add = [&](Gang::Phase phase, Signal signal, ReplicaCount count) {
    for (ReplicaCount i = 0; i < count; ++i) {
      WorkloadView::Replica replica{{static_cast<std::uint32_t>(view.replicas.size())}, phase, at(0), {}};
      replica.signals.waiting = replica.signals.running = replica.signals.duty_cycle_percent =
          replica.signals.memory_used_percent = signal;
      view.replicas.push_back(replica);
    }
  };
  add(Gang::Phase::ready, Signal::measured(reading), ready);
  add(Gang::Phase::pending, {}, pending);
  add(Gang::Phase::ready, {}, silent);
  view.current = ready + pending + silent;
  return view;
}

struct MetricRow {
  const char* teaches;
  ReplicaCount ready;
  std::int64_t reading;
  ReplicaCount pending, silent;
  ReplicaCount proposed, desired;
  ReasonCode why;
};

// Queue HPA with a target of 4 waiting requests per replica and 1 to 20 replicas: first evaluation, without `behavior`.
constexpr MetricRow kQueueRows[] = {
    {"12 waiting against a target of 4: ceil(3 x 2)", 2, 12, 0, 0, 6, 4, ReasonCode::rate_limited},
    {"ceil(1.5 x 4), under max(2 x 4, 4)", 4, 6, 0, 0, 6, 6, ReasonCode::queue_above_target},
    {"a ratio inside 10 % changes nothing", 10, 4, 0, 0, 10, 10, ReasonCode::within_tolerance},
    {"a scale-down waits for the 5 min window", 4, 1, 0, 0, 1, 4, ReasonCode::cooling_down},
    {"an empty queue is ratio 0: the window still holds", 4, 0, 0, 0, 0, 4, ReasonCode::cooling_down},
    {"pending replicas count as idle on the way up: 16/4 pods", 2, 8, 2, 0, 4, 4, ReasonCode::within_tolerance},
    {"pending replicas are not in the divisor on the way down: ceil(0.5 x 2)", 2, 2, 4, 0, 1, 6,
     ReasonCode::cooling_down},
    {"silent replicas count as on target on the way down", 3, 0, 0, 3, 3, 6, ReasonCode::cooling_down},
    {"silent replicas count as idle on the way up", 2, 12, 0, 2, 6, 6, ReasonCode::queue_above_target},
    {"assumed values that reverse the direction change nothing", 1, 5, 3, 0, 4, 4, ReasonCode::filled_in},
    {"no reading at all is an error: no change", 0, 0, 1, 3, 4, 4, ReasonCode::signal_missing},
    {"the maximum is never exceeded", 18, 8, 0, 0, 36, 20, ReasonCode::at_maximum},
};

TEST(Scale, OneSilentReplicaPreventsScaleDownIfSilenceHolds) {
  QueueHpa policy;
  policy.hpa.downscale_stabilization = {};
  const WorkloadView one_silent = role(3, 0, 0, 1);
  Memory plain, held;
  plain.has_decided = held.has_decided = true;
  EXPECT_LT(decide(one_silent, policy, plain, at(0)).desired, 4) << "plain HPA scales down";
  policy.hpa.blocks_scale_down_if_silent = true;
  const Decision decision = decide(one_silent, policy, held, at(0));
  EXPECT_EQ(decision.desired, 4);
  EXPECT_EQ(decision.why, (model::Reason{ReasonCode::signal_missing, {1, 4}}));
  EXPECT_GT(decide(role(3, 50, 0, 1), policy, held, at(15)).desired, 4)
      << "a silent replica does not prevent a scale-up";
  EXPECT_LT(decide(role(4, 0), policy, held, at(30)).desired, 4);
}

TEST(Scale, SilenceDoesNotLowerARecommendationThatWasNotApplied) {
  QueueHpa policy;
  policy.hpa.blocks_scale_down_if_silent = true;
  policy.hpa.downscale_stabilization = std::chrono::seconds(60);
  Memory memory;
  WorkloadView loaded = role(1, 16);
  EXPECT_EQ(decide(loaded, policy, memory, at(0)).desired, 4);
  // In Shadow mode no recommendation is applied, so the single replica stays. It is silent for longer than any window.
  for (int second = 15; second < 900; second += 15) {
    const Decision silent = decide(role(0, 0, 0, 1), policy, memory, at(second));
    EXPECT_EQ(silent.desired, 4) << second;
    EXPECT_EQ(silent.why, (model::Reason{ReasonCode::signal_missing, {1, 1}}));
  }
  EXPECT_EQ(decide(WorkloadView{.service = loaded.service, .current = 1, .min = 1, .max = 20, .replicas = {}}, policy,
                   memory, at(900))
                .desired,
            4)
      << "nor does a replica that disappeared";
  EXPECT_EQ(decide(role(1, 0), policy, memory, at(915)).desired, 4) << "the window begins with the next reading";
  EXPECT_EQ(decide(role(1, 0), policy, memory, at(980)).desired, 1);
}

TEST(Scale, SilenceHoldsAtMostTheMaximum) {
  QueueHpa policy;
  policy.hpa.blocks_scale_down_if_silent = true;
  Memory memory;
  memory.recommended = 9;
  WorkloadView silent = role(0, 0, 0, 2);
  silent.max = 5;
  EXPECT_EQ(decide(silent, policy, memory, at(0)).desired, 5);
}

TEST(Scale, AFloorRaisesToItselfAndPreventsScaleDown) {
  QueueHpa policy;
  policy.hpa.downscale_stabilization = {};
  Memory memory;
  memory.floor = 6;
  const Decision raised = decide(role(4, 0), policy, memory, at(0));
  EXPECT_EQ(raised.desired, 6);
  EXPECT_EQ(raised.why, (model::Reason{ReasonCode::slo_roll_back, {6, 4, 6}}));
  ASSERT_EQ(raised.plan.actions.size(), 1u);
  EXPECT_EQ(std::get<model::SetReplicas>(raised.plan.actions[0].effect).replicas, 6);
  EXPECT_EQ(decide(role(8, 0), policy, memory, at(15)).desired, 8) << "existing replicas stay";
  EXPECT_EQ(decide(role(8, 8), policy, memory, at(30)).desired, 16) << "a floor allows more";
  WorkloadView limited = role(4, 0);
  limited.max = 5;
  EXPECT_EQ(decide(limited, policy, memory, at(45)).desired, 5) << "the maximum is never exceeded";
  limited.max = 3;
  EXPECT_EQ(decide(limited, policy, memory, at(60)).desired, 4) << "but no existing replica is removed for it";
  memory.floor = 0;
  EXPECT_EQ(decide(role(4, 0), policy, memory, at(75)).desired, 1);
}

TEST(QueueHpa, ScalesByWaitingRequestsPerReplica) {
  for (const MetricRow& row : kQueueRows) {
    SCOPED_TRACE(row.teaches);
    Memory memory;
    const Decision decision = decide(role(row.ready, row.reading, row.pending, row.silent), QueueHpa{}, memory, at(0));
    EXPECT_EQ(decision.proposed, row.proposed);
    EXPECT_EQ(decision.desired, row.desired);
    EXPECT_EQ(name(decision.why.code), name(row.why)) << sentence(decision.why);
    EXPECT_EQ(decision.plan.actions.size() + decision.plan.no_actions.size(), 1u);
  }
}

TEST(DutyCycleHpa, CannotTellTenRequestsFromAHundred) {
  Memory memory;
  // The signal is saturated at 100 %, and the target is 80 %. So a sync goes from 4 to 5, whatever the queue is.
  EXPECT_EQ(decide(role(4, 100), DutyCycleHpa{}, memory, at(0)).desired, 5);
}

TEST(MemoryHpa, NeverScalesDownWithPreallocatedMemory) {
  Memory memory;
  WorkloadView idle = role(4, 90);
  for (int sync = 0; sync < 80; ++sync) {
    const Decision decision = decide(idle, MemoryHpa{.target_percent = 70, .hpa = {}}, memory, at(15 * sync));
    EXPECT_GE(decision.desired, idle.current);
    idle = role(decision.desired, 90);
  }
  EXPECT_EQ(idle.current, 20) << "an idle fleet climbs to its maximum";
}

TEST(Hpa, ScalesDownToTheHighestAnswerOfFiveMinutes) {
  Memory memory;
  EXPECT_EQ(decide(role(8, 1), QueueHpa{}, memory, at(0)).desired, 8)
      << "the first evaluation records the current replicas";
  EXPECT_EQ(decide(role(8, 1), QueueHpa{}, memory, at(300)).desired, 8) << "exactly as old as the window";
  EXPECT_EQ(decide(role(8, 1), QueueHpa{}, memory, at(301)).desired, 2);
}

TEST(Hpa, BehaviourLimitsTheRateWithinAPeriod) {
  QueueHpa policy;
  policy.hpa.behavior = HpaBehavior{};
  policy.hpa.behavior->up.policies = {{HpaRatePolicy::Kind::pods, 2, std::chrono::seconds(60)}};
  Memory memory;
  EXPECT_EQ(decide(role(4, 16), policy, memory, at(0)).desired, 6);
  const Decision blocked = decide(role(6, 16), policy, memory, at(30));
  EXPECT_EQ(blocked.desired, 6) << "2 were added within the last minute";
  EXPECT_EQ(name(blocked.why.code), "rate_limited");
  EXPECT_EQ(decide(role(6, 16), policy, memory, at(61)).desired, 8);
}

TEST(Hpa, TheHigherOfTwoMetricsWinsAndASilentOnePreventsScaleDown) {
  const QueueHpa policy{.waiting_per_replica = 4, .running_per_replica = 10, .hpa = {}};
  WorkloadView view = role(4, 1);
  for (WorkloadView::Replica& replica : view.replicas) replica.signals.running = Signal::measured(15);
  Memory memory;
  EXPECT_EQ(decide(view, policy, memory, at(0)).desired, 6);
  for (WorkloadView::Replica& replica : view.replicas) replica.signals.running = {};
  Memory other;
  const Decision kept = decide(view, policy, other, at(0));
  EXPECT_EQ(kept.why, (model::Reason{model::ReasonCode::signal_missing, {4, 4}}))
      << "the reason names the silent metric";
  EXPECT_EQ(kept.desired, 4);
}

TEST(Hpa, DoesNotScaleAWorkloadAtZero) {
  Memory memory;
  WorkloadView view = role(0, 0);
  EXPECT_EQ(name(decide(view, QueueHpa{}, memory, at(0)).why.code), "scaling_disabled");
}

TEST(Hpa, HasNoMetricToRaiseAWorkloadFromZero) {
  Memory memory;
  WorkloadView view = role(0, 0);
  view.min = 0;
  const Decision decision = decide(view, QueueHpa{}, memory, at(0));
  EXPECT_EQ(decision.desired, 0);
  EXPECT_EQ(name(decision.why.code), "no_replica_to_read");
}

TEST(Hpa, ReadsNoMetricOutsideTheBounds) {
  Memory memory;
  WorkloadView view = role(4, 100);
  view.max = 3;
  const Decision decision = decide(view, QueueHpa{}, memory, at(0));
  EXPECT_EQ(decision.desired, 3);
  EXPECT_TRUE(decision.readings.empty());
}

TEST(Fixed, IsClampedToTheBounds) {
  Memory memory;
  EXPECT_EQ(decide(role(4, 100), Fixed{.replicas = 8, .period = std::chrono::seconds(15)}, memory, at(0)).desired, 8);
  EXPECT_EQ(decide(role(4, 100), Fixed{.replicas = 80, .period = std::chrono::seconds(15)}, memory, at(0)).desired, 20);
  EXPECT_EQ(period(Fixed{}), std::chrono::seconds(15));
}

TEST(Victims, AreOrderedByLeastLoss) {
  WorkloadView view = role(3, 5, 1);                       // 0 1 2 ready, 3 pending
  view.replicas[1].signals.running = Signal::measured(1);  // 1 holds the fewest requests
  view.replicas[2].signals = {};                           // the load of 2 is unknown
  view.replicas.push_back({{4}, Gang::Phase::starting, at(9), {}});
  view.replicas.push_back({{5}, Gang::Phase::draining, at(0), {}});
  const std::vector<model::GangId> order = victims(view, 0);
  EXPECT_EQ(order, (std::vector<model::GangId>{{3}, {4}, {1}, {0}, {2}}));
  EXPECT_EQ(victims(view, 4), (std::vector<model::GangId>{{3}})) << "a draining replica is not counted";
  EXPECT_TRUE(victims(view, 9).empty());
}

TEST(Victims, ComeFromTheFullestDomainIfTheServiceMustSurviveALoss) {
  WorkloadView view = role(5, 5, 1);  // 0 to 4 ready, 5 pending, which has no node
  view.spread = Spread{.domains = 3, .held = {3, 1, 1}};
  const FailureDomain domains[] = {0, 0, 0, 1, 2, kNowhere};
  for (std::size_t i = 0; i < 6; ++i) {
    view.replicas[i].domain = domains[i];
    view.replicas[i].signals.running = Signal::measured(i < 3 ? 10 - static_cast<std::int64_t>(i) : 0);
  }
  // After the pending replica, two of the three in the first domain are removed, though they hold the most requests.
  // Then all domains have one replica.
  EXPECT_EQ(victims(view, 2), (std::vector<model::GangId>{{5}, {2}, {1}, victims(view, 2)[3]}));
  EXPECT_NE(victims(view, 2)[3], model::GangId{0}) << "among domains with one replica, the least loaded is removed";
}

TEST(Victims, ComeFromTheFullestDomainUntilItIsEven) {
  WorkloadView view = role(2'000, 0);
  view.spread = Spread{.domains = 2, .held = {1'900, 100}};
  for (std::size_t i = 0; i < view.replicas.size(); ++i) view.replicas[i].domain = i < 100 ? 1 : 0;
  const auto gone = victims(view, 150);
  ASSERT_EQ(gone.size(), 1'850u);
  const auto of_small = std::ranges::count_if(gone, [](model::GangId id) { return id.value < 100; });
  EXPECT_EQ(of_small, 25) << "75 are left in each domain";
}

TEST(Memory, IsRefusedIfIncomplete) {
  EXPECT_FALSE(parse_memory("scale-memory/1 0 0 0 0 0"));
  EXPECT_FALSE(parse_memory("scale-memory/11 0 0 0 1 5"));
  EXPECT_FALSE(parse_memory("scale-memory/11 0 0 0 0 0 0 0 7"));
  EXPECT_EQ(parse_memory("scale-memory/11 0 0 0 x 0 0 0").error().text(),
            "1:23: saved memory: found 'x', expected an integer");
}

// --- Properties ---

Policy random_policy() {
  HpaSettings hpa;
  if (*rc::gen::arbitrary<bool>()) {
    hpa.behavior = HpaBehavior{};
    hpa.behavior->up.stabilization = std::chrono::seconds(*rc::gen::element(0, 30, 240));
    hpa.behavior->down.stabilization = std::chrono::seconds(*rc::gen::element(0, 60, 300));
    hpa.behavior->down.select =
        *rc::gen::element(HpaRules::Select::max, HpaRules::Select::min, HpaRules::Select::disabled);
    hpa.behavior->down.policies.push_back({HpaRatePolicy::Kind::pods, 1, std::chrono::seconds(60)});
  }
  switch (*rc::gen::inRange(0, 4)) {
    case 0:
      return Fixed{.replicas = *rc::gen::inRange(0, 30), .period = std::chrono::seconds(15)};
    case 1:
      return DutyCycleHpa{.target_percent = *rc::gen::inRange(1, 101), .hpa = hpa};
    case 2:
      return MemoryHpa{.target_percent = *rc::gen::inRange(1, 101), .hpa = hpa};
    default:
      return QueueHpa{.waiting_per_replica = *rc::gen::inRange(1, 20), .running_per_replica = 8, .hpa = hpa};
  }
}

WorkloadView random_role(ReplicaCount current) {
  WorkloadView view = role(*rc::gen::inRange<ReplicaCount>(0, 12), *rc::gen::inRange(0, 120),
                           *rc::gen::inRange<ReplicaCount>(0, 5), *rc::gen::inRange<ReplicaCount>(0, 5));
  if (current >= 0) view.current = current;
  view.min = *rc::gen::inRange<ReplicaCount>(0, 4);
  view.max = view.min + *rc::gen::inRange<ReplicaCount>(0, 12);
  return view;
}

RC_GTEST_PROP(Scale, StaysInItsBoundsAndRepeatsFromSavedMemory, ()) {
  const Policy policy = random_policy();
  Memory memory;
  ReplicaCount current = -1;
  Instant now = at(0);
  for (int sync = 0; sync < 12; ++sync) {
    const WorkloadView view = random_role(current);
    Memory saved = parse_memory(to_text(memory)).value();
    RC_ASSERT(saved == memory);
    const Decision decision = decide(view, policy, memory, now);
    RC_ASSERT(decision.desired <= std::max(view.max, ReplicaCount{0}));
    RC_ASSERT((decision.desired >= view.min || view.current == 0));
    for (const model::Action& action : decision.plan.actions) {
      const ReasonCode code = action.why.code;
      const bool is_stated =
          code == ReasonCode::fixed_replicas || code == ReasonCode::at_maximum || code == ReasonCode::above_maximum;
      RC_ASSERT(std::get<model::SetReplicas>(action.effect).is_stated == is_stated);
    }
    const Decision again = decide(view, policy, saved, now);
    RC_ASSERT(plan_hash(again.plan) == plan_hash(decision.plan));
    RC_ASSERT(to_text(saved) == to_text(memory));
    RC_ASSERT(memory.recommendations.size() < 64u);
    current = decision.desired;
    now = now + std::chrono::seconds(*rc::gen::element(15, 45, 200));
  }
}

RC_GTEST_PROP(Scale, NeverScalesDownIfAllReplicasAreSilent, ()) {
  Policy policy = random_policy();
  if (std::holds_alternative<Fixed>(policy)) policy = QueueHpa{};
  Memory memory;
  WorkloadView view = role(0, 0, *rc::gen::inRange<ReplicaCount>(0, 5), *rc::gen::inRange<ReplicaCount>(1, 15));
  RC_ASSERT(decide(view, policy, memory, at(0)).desired == view.current);
}

TEST(Scale, EachPolicyNamesTheSignalsItNeeds) {
  using S = model::ReplicaSignals;
  using Fields = std::vector<model::SignalField>;
  const Fields work = {&S::waiting, &S::running, &S::prompt_tokens_total, &S::generated_tokens_total};
  Fields with_kv = work;
  with_kv.push_back(&S::kv_usage_ppm);
  Rules by_queue;
  by_queue.scale_on = Rules::ScaleOn::queue;
  QueueHpa running;
  running.running_per_replica = 4;
  const std::pair<Policy, Fields> rows[] = {{Fixed{}, {}},
                                            {QueueHpa{}, {&S::waiting}},
                                            {running, {&S::waiting, &S::running}},
                                            {DutyCycleHpa{}, {&S::duty_cycle_percent}},
                                            {MemoryHpa{}, {&S::memory_used_percent}},
                                            {Capstan{}, work},
                                            {Rules{}, with_kv},
                                            {by_queue, work}};
  for (const auto& [policy, fields] : rows) EXPECT_EQ(needed_signals(policy), fields) << policy.index();
}

}  // namespace
}  // namespace capstan::decide::scale
