// Goal: each HPA reads only its own metrics, and the reason names the cause of the count. The calculation for one
// metric is tested in hpa_metrics_test.cc.
#include <gtest/gtest.h>

#include "decide/scale/scale.h"

namespace capstan::decide::scale {
namespace {

using model::ReasonCode;

WorkloadView one_metric_is_high(model::Signal model::ReplicaSignals::* high) {
  WorkloadView role;
  role.service = {0};
  role.min = 1;
  role.max = 20;
  role.current = 2;
  for (std::uint32_t i = 0; i < 2; ++i) {
    WorkloadView::Replica replica{{i}, model::Gang::Phase::ready, {}, {}};
    model::ReplicaSignals& s = replica.signals;
    s.waiting = s.running = s.duty_cycle_percent = s.memory_used_percent = model::Signal::measured(0);
    s.*high = model::Signal::measured(96);
    role.replicas.push_back(replica);
  }
  return role;
}

TEST(HpaPolicy, ScalesUpByItsOwnMetricOnly) {
  struct Row {
    Policy policy;
    model::Signal model::ReplicaSignals::* its_own;
  };
  const Row rows[] = {
      {DutyCycleHpa{}, &model::ReplicaSignals::duty_cycle_percent},
      {MemoryHpa{}, &model::ReplicaSignals::memory_used_percent},
      {QueueHpa{}, &model::ReplicaSignals::waiting},
  };
  for (const Row& row : rows) {
    for (const Row& other : rows) {
      Memory memory;
      const bool own = row.its_own == other.its_own;
      const Decision decision = decide(one_metric_is_high(other.its_own), row.policy, memory, {});
      EXPECT_EQ(decision.desired > 2, own);
    }
  }
}

TEST(HpaPolicy, TheHigherOfTwoMetricsWins) {
  QueueHpa policy;
  policy.running_per_replica = 24;
  Memory memory;
  const Decision decision = decide(one_metric_is_high(&model::ReplicaSignals::running), policy, memory, {});
  EXPECT_EQ(decision.proposed, 8) << "ceil(2 x 96 / 24)";
  EXPECT_EQ(decision.readings.size(), 2u);
}

TEST(HpaPolicy, ACountOutsideTheBoundsIsTheReasonBeforeAnyMetric) {
  QueueHpa policy;
  Memory memory;
  WorkloadView role = one_metric_is_high(&model::ReplicaSignals::waiting);
  role.current = 1;
  role.min = 2;
  EXPECT_EQ(decide(role, policy, memory, Instant{}).why, (model::Reason{ReasonCode::below_minimum, {1, 2}}));
  role.current = 9;
  role.max = 4;
  EXPECT_EQ(decide(role, policy, memory, Instant{}).why, (model::Reason{ReasonCode::above_maximum, {9, 4}}));
}

TEST(HpaPolicy, AWindowBeyondTheMaximumIsTheReasonOnceTheMetricFalls) {
  QueueHpa policy;
  Memory memory;
  WorkloadView role = one_metric_is_high(&model::ReplicaSignals::waiting);
  role.current = role.max = 4;
  EXPECT_EQ(decide(role, policy, memory, Instant{}).why.code, ReasonCode::at_maximum);
  for (WorkloadView::Replica& replica : role.replicas) replica.signals.waiting = model::Signal::measured(0);
  const Decision decision = decide(role, policy, memory, Instant{} + std::chrono::minutes(1));
  EXPECT_EQ(decision.desired, 4);
  EXPECT_GT(decision.stabilized, 4) << "the window still has the earlier peak";
  EXPECT_EQ(decision.why.code, ReasonCode::cooling_down);
}

}  // namespace
}  // namespace capstan::decide::scale
