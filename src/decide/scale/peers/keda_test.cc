#include "decide/scale/peers/keda.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace capstan::decide::scale::keda {
namespace {

TEST(Keda, PrometheusAnswers) {
  struct Row {
    const char* what;
    std::vector<Series> series;
    std::optional<double> ignoring, strict;
  };
  const Row rows[] = {
      {"one sample", {{2, "2.5"}}, 2.5, 2.5},       {"no series", {}, 0, {}},
      {"an empty value", {{0, {}}}, 0, {}},         {"half a value", {{1, {}}}, {}, {}},
      {"two series", {{2, "1"}, {2, "2"}}, {}, {}}, {"NaN", {{2, "NaN"}}, 0, {}},
      {"infinite", {{2, "+Inf"}}, 0, {}},           {"infinite and negative", {{2, "-Inf"}}, 0, {}},
      {"no number", {{2, "many"}}, {}, {}},
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
  EXPECT_TRUE(fourth.stood_in);
  EXPECT_TRUE(is_fallback_active(fallback, std::array{Health{}, *health}));
  EXPECT_EQ(with_fallback(fallback, health, {}, 5, MetricType::value, {}, 4).value, 12.5);
  EXPECT_EQ(with_fallback(fallback, health, {}, 5, MetricType::value, {}, 3).value, 16.666) << "whole thousandths";
  EXPECT_EQ(with_fallback(fallback, health, {}, 5, MetricType::value, {}, 0).value, std::nullopt);
  EXPECT_EQ(with_fallback(fallback, health, 7.0, 5, MetricType::average_value, {}, 0).value, 7);
  EXPECT_EQ(health->failures, 0) << "one success is enough";
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

TEST(Keda, BetweenNoneAndSome) {
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
      {"wakes with one", object(0, {}, plain), {true, false}, 0, {}, 1},
      {"or with its minimum", object(3, {}, plain), {true, false}, 0, {}, 3},
      {"above none the HPA decides", object(3, {}, plain), {true, false}, 1, {}, 1},
      {"but not with an idle count", object(3, 0, plain), {true, false}, 1, {}, 3},
      {"not while scale-out is paused",
       object(0, {}, [](auto& o) { o.pause_scale_out = true; }),
       {true, false},
       0,
       {},
       0},
      {"forced", object(0, {}, [](auto& o) { o.force_activation = true; }), {false, false}, 0, {}, 1},
      {"sleeps after the cool-down", object(0, {}, plain), {false, false}, 9, seconds(301), 0},
      {"not exactly at its end", object(0, {}, plain), {false, false}, 9, seconds(300), 9},
      {"at once where none was ever active", object(0, {}, plain), {false, false}, 9, {}, 0},
      {"to the idle count", object(5, 2, plain), {false, false}, 9, {}, 2},
      {"a minimum without one is the HPA's", object(5, {}, plain), {false, false}, 9, {}, 9},
      {"below the minimum it is put right", object(5, {}, plain), {false, false}, 2, seconds(0), 5},
      {"not while scale-in is paused",
       object(0, {}, [](auto& o) { o.pause_scale_in = true; }),
       {false, false},
       9,
       {},
       9},
      {"an error holds", object(0, {}, plain), {false, true}, 9, {}, 9},
      {"and so it does where the HPA will be given a fallback",
       object(0, {}, [](auto& o) { o.fallback = Fallback{3, 4, {}}; }),
       {false, true},
       9,
       {},
       9},
      {"but not for a fallback of none",
       object(0, {}, [](auto& o) { o.fallback = Fallback{3, 0, {}}; }),
       {false, true},
       9,
       {},
       0},
      {"paused", object(0, {}, [](auto& o) { o.paused = true; }), {true, false}, 0, {}, 0},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(activate(row.object, row.triggers, row.current, row.idle_for, kOld).replicas, row.replicas) << row.what;
  }
  EXPECT_TRUE(activate(rows[4].object, {true, false}, 0, {}, kOld).active_condition) << "paused, and still active";
  EXPECT_FALSE(activate(rows[16].object, {true, false}, 0, {}, kOld).active_condition);
}

}  // namespace
}  // namespace capstan::decide::scale::keda
