#include "peers/formula/keda.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace capstan::peers::keda {
namespace {

TEST(Keda, PrometheusAnswers) {
  struct Row {
    const char* what;
    std::vector<Series> series;
    std::optional<double> ignoring, strict;
  };
  const Row rows[] = {
      {"one sample", {{2, "2.5"}}, 2.5, 2.5},       {"no series", {}, 0, {}},
      {"an empty value", {{0, {}}}, 0, {}},         {"a value with one part", {{1, {}}}, {}, {}},
      {"two series", {{2, "1"}, {2, "2"}}, {}, {}}, {"NaN", {{2, "NaN"}}, 0, {}},
      {"infinite", {{2, "+Inf"}}, 0, {}},           {"infinite and negative", {{2, "-Inf"}}, 0, {}},
      {"not a number", {{2, "many"}}, {}, {}},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(prometheus_value(row.series, true, true), row.ignoring) << row.what;
    EXPECT_EQ(prometheus_value(row.series, true, false), row.strict) << row.what;
    EXPECT_EQ(prometheus_value(row.series, false, true), std::nullopt) << row.what;
  }
}

TEST(Keda, Quantities) {
  EXPECT_EQ(quantity_milli(0.85), 850);
  EXPECT_EQ(quantity_milli(-1), 0);
  EXPECT_EQ(quantity_milli(std::nan("")), 0);
  EXPECT_EQ(quantity_milli(HUGE_VAL), 0);
  EXPECT_GT(quantity_milli(1e18), 0);
  EXPECT_EQ(hpa_minimum(0), 1);
}

TEST(Keda, FallbackEngagesAfterTheThreshold) {
  const std::optional<Fallback> fallback = Fallback{3, 10, Fallback::Behavior::fixed};
  std::optional<Health> health;
  for (int failure = 1; failure <= 3; ++failure) {
    EXPECT_FALSE(with_fallback(fallback, health, {}, 5, MetricType::average_value, {}, 0).value) << failure;
  }
  EXPECT_FALSE(is_fallback_active(fallback, std::array{*health}));
  const FallbackResult fourth = with_fallback(fallback, health, {}, 5, MetricType::average_value, {}, 0);
  EXPECT_EQ(fourth.value, 50);
  EXPECT_TRUE(fourth.is_fallback);
  EXPECT_TRUE(is_fallback_active(fallback, std::array{Health{}, *health}));
  EXPECT_EQ(with_fallback(fallback, health, {}, 5, MetricType::value, {}, 4).value, 12.5);
  EXPECT_EQ(with_fallback(fallback, health, {}, 5, MetricType::value, {}, 3).value, 16.666)
      << "truncated to thousandths";
  EXPECT_EQ(with_fallback(fallback, health, {}, 5, MetricType::value, {}, 0).value, std::nullopt);
  EXPECT_EQ(with_fallback(fallback, health, 7.0, 5, MetricType::average_value, {}, 0).value, 7);
  EXPECT_EQ(health->failures, 0) << "one success resets the failures";
}

TEST(Keda, FallbackBehaviours) {
  using Behavior = Fallback::Behavior;
  struct Row {
    Behavior behavior;
    std::optional<ReplicaCount> current;
    std::optional<double> value;
  };
  for (const Row& row :
       {Row{Behavior::fixed, {}, 100}, Row{Behavior::unset, {}, {}}, Row{Behavior::unset, 4, 100},
        Row{Behavior::current_replicas, 4, 40}, Row{Behavior::current_replicas_if_higher, 4, 100},
        Row{Behavior::current_replicas_if_higher, 14, 140}, Row{Behavior::current_replicas_if_lower, 4, 40}}) {
    std::optional<Health> health = Health{3, true};
    EXPECT_EQ(
        with_fallback(Fallback{3, 10, row.behavior}, health, {}, 10, MetricType::average_value, row.current, 0).value,
        row.value);
  }
}

TEST(Keda, WithoutAValidFallbackHealthIsNotTouched) {
  for (const std::optional<Fallback>& fallback :
       {std::optional<Fallback>(), std::optional(Fallback{-1, 10, {}}), std::optional(Fallback{3, -10, {}})}) {
    std::optional<Health> health = Health{5, true};
    EXPECT_EQ(with_fallback(fallback, health, {}, 5, MetricType::average_value, 3, 3).value, std::nullopt);
    EXPECT_EQ(with_fallback(fallback, health, 7.0, 5, MetricType::average_value, 3, 3).value, 7);
    EXPECT_EQ(health->failures, 5);
    EXPECT_FALSE(is_fallback_active(fallback, std::array{*health}));
  }
}

TEST(Keda, DecidesBetweenZeroAndOne) {
  constexpr Duration kOld = std::chrono::hours(100);
  struct Row {
    const char* what;
    ScaledObject object;
    Triggers triggers;
    ReplicaCount current;
    std::optional<Duration> idle_for;
    ReplicaCount replicas;
  };
  const auto object = [](ReplicaCount min, std::optional<ReplicaCount> idle, auto change) {
    ScaledObject made;
    made.min_replicas = min;
    made.idle_replicas = idle;
    change(made);
    return made;
  };
  const auto plain = [](ScaledObject&) {};
  const auto seconds = [](std::int64_t s) { return std::optional<Duration>(std::chrono::seconds(s)); };
  const Row rows[] = {
      {"an active trigger wakes one replica", object(0, {}, plain), {true, false}, 0, {}, 1},
      {"an active trigger wakes the minimum", object(3, {}, plain), {true, false}, 0, {}, 3},
      {"above zero the HPA decides", object(3, {}, plain), {true, false}, 1, {}, 1},
      {"with an idle count KEDA raises to the minimum", object(3, 0, plain), {true, false}, 1, {}, 3},
      {"a paused scale-out does not wake",
       object(0, {}, [](auto& o) { o.pause_scale_out = true; }),
       {true, false},
       0,
       {},
       0},
      {"forced activation wakes", object(0, {}, [](auto& o) { o.force_activation = true; }), {false, false}, 0, {}, 1},
      {"scales to zero after the cool-down", object(0, {}, plain), {false, false}, 9, seconds(301), 0},
      {"but not exactly at its end", object(0, {}, plain), {false, false}, 9, seconds(300), 9},
      {"immediately if no trigger was ever active", object(0, {}, plain), {false, false}, 9, {}, 0},
      {"scales to the idle count", object(5, 2, plain), {false, false}, 9, {}, 2},
      {"without an idle count the HPA keeps the minimum", object(5, {}, plain), {false, false}, 9, {}, 9},
      {"below the minimum it is raised", object(5, {}, plain), {false, false}, 2, seconds(0), 5},
      {"a paused scale-in holds", object(0, {}, [](auto& o) { o.pause_scale_in = true; }), {false, false}, 9, {}, 9},
      {"an error holds the count", object(0, {}, plain), {false, true}, 9, {}, 9},
      {"an error holds until the HPA receives the fallback",
       object(0, {}, [](auto& o) { o.fallback = Fallback{3, 4, {}}; }),
       {false, true},
       9,
       {},
       9},
      {"a fallback of zero replicas does not hold",
       object(0, {}, [](auto& o) { o.fallback = Fallback{3, 0, {}}; }),
       {false, true},
       9,
       {},
       0},
      {"a paused object does nothing", object(0, {}, [](auto& o) { o.paused = true; }), {true, false}, 0, {}, 0},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(activate(row.object, row.triggers, row.current, row.idle_for, kOld).replicas, row.replicas) << row.what;
  }
  EXPECT_TRUE(activate(rows[4].object, {true, false}, 0, {}, kOld).active_condition)
      << "scale-out is paused, but the condition is active";
  EXPECT_FALSE(activate(rows[16].object, {true, false}, 0, {}, kOld).active_condition);
}

}  // namespace
}  // namespace capstan::peers::keda
