#include "peers/formula/kpa.h"

#include <gtest/gtest.h>

#include "peers/formula/kpa_metrics.h"
#include "peers/formula/kpa_zero.h"

namespace capstan::peers::kpa {
namespace {

Instant at(double seconds) { return {Duration(static_cast<std::int64_t>(seconds * 1e9))}; }

Spec ten_a_pod() {
  Spec spec;
  spec.target = 10;
  spec.total = 12.5;
  spec.target_burst_capacity = 100;
  spec.max_scale_up_rate = 10;
  return spec;
}

ReplicaCount answer(const Spec& spec, State& state, ReplicaCount ready, double stable, double panic, double now_s) {
  return decide(spec, state, {ready, stable, panic}, at(now_s)).desired;
}

TEST(Kpa, RatesBoundADecision) {
  struct Row {
    const char* what;
    double up_rate, down_rate;
    ReplicaCount ready;
    double stable;
    ReplicaCount desired;
  };
  const Row rows[] = {
      {"the count for the load", 10, 2, 2, 31, 4},       {"none ready counts as one", 10, 2, 0, 1000, 10},
      {"the rate up is rounded up", 1.1, 2, 2, 1000, 3}, {"the rate down is rounded down", 10, 2, 5, 0, 2},
      {"the last pod may go", 10, 2, 1, 0, 0},
  };
  for (const Row& row : rows) {
    Spec spec = ten_a_pod();
    spec.panic_threshold = 1000;
    spec.max_scale_up_rate = row.up_rate;
    spec.max_scale_down_rate = row.down_rate;
    State state;
    EXPECT_EQ(answer(spec, state, row.ready, row.stable, row.stable, 0), row.desired) << row.what;
  }
}

TEST(Kpa, WithoutDataNothingChanges) {
  State state;
  EXPECT_FALSE(decide({}, state, {3, std::nullopt, std::nullopt}, at(0)).valid);
  EXPECT_FALSE(decide({}, state, {std::nullopt, 1.0, 1.0}, at(0)).valid);
}

TEST(Kpa, PanicHoldsTheHighestUntilAStableWindowHasPassed) {
  const Spec spec = ten_a_pod();
  State state = begin(spec, 1, at(0));
  EXPECT_FALSE(state.last_panic_at);
  EXPECT_EQ(answer(spec, state, 2, 30, 40, 0), 4) << "4 pods for 2 ready ones reach the panic threshold";
  EXPECT_EQ(answer(spec, state, 4, 10, 10, 10), 4) << "panic does not scale down";
  EXPECT_EQ(answer(spec, state, 4, 65, 10, 20), 7) << "the stable window counts too";
  EXPECT_EQ(answer(spec, state, 4, 10, 10, 60), 7) << "exactly a stable window later";
  EXPECT_EQ(answer(spec, state, 4, 30, 10, 60.1), 3);
  EXPECT_EQ(state.max_panic_pods, 0);
}

TEST(Kpa, ANewDeciderHoldsTheReadyPods) {
  State state = begin({}, 5, at(0));
  EXPECT_TRUE(state.last_panic_at);
  EXPECT_EQ(answer(ten_a_pod(), state, 5, 0, 0, 30), 5);
  EXPECT_EQ(answer(ten_a_pod(), state, 5, 0, 0, 61), 2);
  EXPECT_EQ(begin({}, std::nullopt, at(0)).max_panic_pods, 0);
}

TEST(Kpa, TheActivationScaleAppliesOnlyIfPodsAreWanted) {
  Spec spec = ten_a_pod();
  spec.activation_scale = 5;
  spec.max_scale_up_rate = 2;
  State state;
  EXPECT_EQ(answer(spec, state, 1, 5, 5, 0), 5) << "above the rate limit";
  EXPECT_EQ(answer(spec, state, 1, 0, 0, 0), 0);
}

TEST(Kpa, ADelayHoldsTheHighestCountWithinIt) {
  Spec spec = ten_a_pod();
  spec.scale_down_delay = std::chrono::seconds(300);
  spec.panic_threshold = 1000;
  State state = begin(spec, 1, at(0));
  EXPECT_EQ(answer(spec, state, 10, 100, 100, 2), 10);
  EXPECT_EQ(answer(spec, state, 10, 60, 60, 300), 10);
  EXPECT_EQ(answer(spec, state, 10, 50, 50, 302), 6);
  spec.reachable = false;
  EXPECT_EQ(answer(spec, state, 10, 10, 10, 304), 1) << "an unreachable revision needs no delay";
}

TEST(Kpa, ExcessBurstCapacity) {
  struct Row {
    double burst;
    ReplicaCount ready;
    std::int64_t excess;
  };
  for (const Row& row : {Row{0, 4, 0}, Row{-1, 4, -1}, Row{100, 4, -100 + 50 - 30}, Row{100, 0, -130}}) {
    Spec spec = ten_a_pod();
    spec.target_burst_capacity = row.burst;
    State state;
    EXPECT_EQ(decide(spec, state, {row.ready, 30.0, 30.0}, at(0)).excess_burst_capacity, row.excess);
  }
}

TEST(Kpa, Targets) {
  TargetSettings settings;
  EXPECT_DOUBLE_EQ(resolve_target(settings).target, 70);
  settings.container_concurrency = 10;
  settings.target_annotation = 50;
  EXPECT_DOUBLE_EQ(resolve_target(settings).total, 10) << "never above the hard limit";
  settings.by_rate = true;
  EXPECT_DOUBLE_EQ(resolve_target(settings).total, 50) << "a rate has no hard limit";
  settings.utilization_percent = 1e-4;
  EXPECT_DOUBLE_EQ(resolve_target(settings).target, 0.01);
}

TEST(KpaMetrics, MaxOfAWindow) {
  MaxWindow window(5);
  const std::pair<std::int64_t, ReplicaCount> records[] = {{0, 5}, {1, 8}, {2, 5}, {3, 7}, {5, 5}, {6, 1}, {7, 4}};
  std::vector<ReplicaCount> highest;
  for (const auto& [index, value] : records) {
    window.record(index, value);
    highest.push_back(window.max());
  }
  EXPECT_EQ(highest, (std::vector<ReplicaCount>{5, 8, 8, 8, 8, 7, 7}));
  window.record(20, 1);
  EXPECT_EQ(window.max(), 1) << "all others left the window";
}

TEST(KpaMetrics, ValuesOfOneGranuleCollapse) {
  MaxTimeWindow window(std::chrono::seconds(3), std::chrono::seconds(2));
  window.record(at(2.0), 4);
  window.record(at(3.9), 2);
  EXPECT_EQ(window.max(), 4);
  window.record(at(5.9), 1);
  EXPECT_EQ(window.max(), 4) << "three seconds are two granules";
  window.record(at(6), 1);
  EXPECT_EQ(window.max(), 1);
}

TEST(KpaMetrics, GranulesBeforeTheOriginHaveTheSameLength) {
  EXPECT_EQ(granule_of(-4, 2), -2);
  EXPECT_EQ(granule_of(-1, 2), -1);
  EXPECT_EQ(granule_of(1, 2), 0);
  MaxTimeWindow highest(std::chrono::seconds(2), std::chrono::seconds(2));
  highest.record(at(-1), 9);
  highest.record(at(0), 1);
  EXPECT_EQ(highest.max(), 1);
  AverageWindow window(std::chrono::seconds(5), std::chrono::seconds(1));
  window.record(at(-0.5), 4);
  window.record(at(0.5), 6);
  EXPECT_EQ(window.average(at(0.5)), 5);
}

TEST(KpaMetrics, AverageOfAWindow) {
  AverageWindow window(std::chrono::seconds(5), std::chrono::seconds(1));
  EXPECT_EQ(window.average(at(3)), 0);
  window.record(at(0.2), 1);
  window.record(at(0.9), 1);
  EXPECT_EQ(window.average(at(0)), 2) << "values within a second add up";
  window.record(at(3), 2);
  EXPECT_EQ(window.average(at(3)), 1) << "gaps count as 0, and the divisor is the time since the first record";
  EXPECT_EQ(window.average(at(5)), 0.666666) << "truncated, not rounded";
  EXPECT_EQ(window.average(at(8)), 0);
  window.record(at(8), 7);
  EXPECT_EQ(window.average(at(8)), 7) << "a gap of a whole window restarts the divisor";
}

TEST(KpaMetrics, SampleSizes) {
  for (const auto& [pods, sample] : {std::pair{0, 0}, {1, 1}, {3, 3}, {4, 4}, {100, 14}, {1000, 16}, {100000, 16}}) {
    EXPECT_EQ(sample_size(pods), sample) << pods;
  }
  EXPECT_NEAR(smoothing_coefficient(6), 0.78456, 1e-5);
  EXPECT_EQ(smoothing_coefficient(100), 0.2);
}

struct ZeroRow {
  const char* what;
  void (*change)(ZeroSettings&, Revision&);
  ReplicaCount wanted;
  Step step;
};

TEST(KpaZero, RetiresARevisionStepByStep) {
  using Activity = Revision::Activity;
  using Reachability = Revision::Reachability;
  const ZeroRow rows[] = {
      {"no metrics", [](ZeroSettings&, Revision&) {}, -1, {-1, false, false, false}},
      {"up", [](ZeroSettings&, Revision&) {}, 5, {5, true, false, false}},
      {"up to the maximum", [](ZeroSettings& s, Revision&) { s.max_scale = 3; }, 5, {3, true, false, false}},
      {"active for less than the window",
       [](ZeroSettings&, Revision& r) { r.activity_for = std::chrono::seconds(59); },
       0,
       {1, true, true, false}},
      {"active for the window: becomes inactive first",
       [](ZeroSettings&, Revision& r) { r.activity_for = std::chrono::seconds(60); },
       0,
       {0, false, false, false}},
      {"checks again if the activator is already in the path",
       [](ZeroSettings&, Revision& r) {
         r.activity_for = std::chrono::seconds(60);
         r.proxied = true;
       },
       0,
       {0, false, true, false}},
      {"inactive for less than the grace period",
       [](ZeroSettings&, Revision& r) {
         r.activity = Activity::inactive;
         r.activity_for = std::chrono::seconds(29);
       },
       0,
       {0, false, true, false}},
      {"the activator was in the path for the grace period",
       [](ZeroSettings&, Revision& r) {
         r.activity = Activity::inactive;
         r.proxied_for = std::chrono::seconds(30);
       },
       0,
       {0, true, false, false}},
      {"inactive for the grace period",
       [](ZeroSettings&, Revision& r) {
         r.activity = Activity::inactive;
         r.activity_for = std::chrono::seconds(30);
       },
       0,
       {0, true, false, false}},
      {"the last pod is retained",
       [](ZeroSettings& s, Revision& r) {
         s.retention = std::chrono::seconds(100);
         r.activity = Activity::inactive;
         r.activity_for = r.proxied_for = std::chrono::seconds(99);
       },
       0,
       {0, false, true, false}},
      {"not for a revision without a route",
       [](ZeroSettings& s, Revision& r) {
         s.retention = std::chrono::seconds(100);
         r.activity = Activity::inactive;
         r.reachability = Reachability::unreachable;
         r.proxied_for = std::chrono::seconds(30);
       },
       0,
       {0, true, false, false}},
      {"without a route, inactivity for the grace period suffices",
       [](ZeroSettings& s, Revision& r) {
         s.retention = std::chrono::seconds(100);
         r.activity = Activity::inactive;
         r.reachability = Reachability::unreachable;
         r.activity_for = std::chrono::seconds(30);
       },
       0,
       {0, true, false, false}},
      {"without a route, less than the grace period does not suffice",
       [](ZeroSettings& s, Revision& r) {
         s.retention = std::chrono::seconds(100);
         r.activity = Activity::inactive;
         r.reachability = Reachability::unreachable;
         r.activity_for = r.proxied_for = std::chrono::seconds(29);
       },
       0,
       {0, false, true, false}},
      {"an unknown reachability counts as reachable",
       [](ZeroSettings& s, Revision& r) {
         s.retention = std::chrono::seconds(100);
         r.activity = Activity::inactive;
         r.reachability = Reachability::unknown;
         r.activity_for = r.proxied_for = std::chrono::seconds(30);
       },
       0,
       {0, false, true, false}},
      {"the activator does not answer",
       [](ZeroSettings&, Revision& r) {
         r.activity = Activity::inactive;
         r.activator_answers = false;
       },
       0,
       {0, false, false, true}},
      {"still activating",
       [](ZeroSettings&, Revision& r) {
         r.activity = Activity::activating;
         r.activity_for = std::chrono::seconds(630);
       },
       0,
       {kUnknown, false, true, false}},
      {"never became ready",
       [](ZeroSettings&, Revision& r) {
         r.activity = Activity::activating;
         r.activity_for = std::chrono::seconds(631);
       },
       0,
       {0, true, false, false}},
      {"a missing condition counts as activating and never times out",
       [](ZeroSettings&, Revision& r) {
         r.activity = Activity::unset;
         r.activity_for = std::chrono::seconds(631);
       },
       0,
       {kUnknown, false, true, false}},
      {"an activating revision gets its minimum without metrics",
       [](ZeroSettings& s, Revision& r) {
         r.activity = Activity::unset;
         s.min_scale = 3;
       },
       -1,
       {3, true, false, false}},
      {"scale to zero is disabled",
       [](ZeroSettings& s, Revision&) { s.scale_to_zero = false; },
       0,
       {1, true, false, false}},
      {"the minimum holds", [](ZeroSettings& s, Revision&) { s.min_scale = 2; }, 0, {2, false, false, false}},
      {"the initial scale holds until it was reached",
       [](ZeroSettings& s, Revision&) { s.initial_scale = 3; },
       1,
       {3, true, false, false}},
      {"the initial scale does not hold afterwards",
       [](ZeroSettings& s, Revision& r) {
         s.initial_scale = 3;
         r.initial_scale_reached = true;
       },
       1,
       {1, true, false, false}},
  };
  for (const ZeroRow& row : rows) {
    ZeroSettings settings;
    Revision revision;
    revision.replicas = 2;
    revision.activity = Activity::active;
    row.change(settings, revision);
    const Step step = apply_bounds_and_zero(settings, revision, row.wanted);
    EXPECT_EQ(step.desired, row.step.desired) << row.what;
    EXPECT_EQ(step.applied, row.step.applied) << row.what;
    EXPECT_EQ(step.recheck, row.step.recheck) << row.what;
    EXPECT_EQ(step.probe, row.step.probe) << row.what;
  }
}

TEST(KpaMetrics, AWeightedWindowFavoursTheNewestGranules) {
  const auto at = [](int seconds) { return Instant{std::chrono::seconds(seconds)}; };
  const double m = smoothing_coefficient(5);
  WeightedWindow window(std::chrono::seconds(5), std::chrono::seconds(1));
  EXPECT_EQ(window.average(at(0)), 0);
  const double values[] = {10, 10, 5, 5};
  for (int i = 0; i < 4; ++i) window.record(at(i), values[i]);
  const double left = 1 - m;
  const double expected = 5 * m + 5 * m * left + 10 * m * left * left + 10 * m * left * left * left;
  EXPECT_DOUBLE_EQ(window.average(at(3)), expected);
  EXPECT_DOUBLE_EQ(window.average(at(4)), expected * left) << "a second without a record counts too";
  EXPECT_EQ(window.average(at(20)), 0);
}

}  // namespace
}  // namespace capstan::peers::kpa
