#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/quantity.h"
#include "base/time.h"

/// The part of KEDA outside the HPA: it turns a query result into a metric, provides a fallback if the query fails,
/// scales an inactive workload down to zero or its idle count, and scales a workload up to its minimum. The HPA decides
/// all other changes. Source: kedacore/keda pkg/scalers, pkg/fallback, pkg/scaling/executor.
namespace capstan::peers::keda {

/// Returns the lower bound of the HPA that KEDA creates. Without the feature gate HPAScaleToZero, an HPA cannot have a
/// minimum of 0.
constexpr ReplicaCount hpa_minimum(ReplicaCount min_replicas) { return min_replicas > 1 ? min_replicas : 1; }

// The Prometheus scaler.

/// One series of an instant query's result; Prometheus writes [timestamp, "value"].
struct Series {
  std::size_t parts = 0;  ///< parts of its value; 2 if well-formed
  std::optional<std::string_view> value;
};

/// Returns the metric, or nothing if the scaler reports an error. By default null values are ignored: no series, an
/// empty value, NaN and infinities are then 0 without an error. A gap in the scrapes therefore looks like no load.
std::optional<double> prometheus_value(std::span<const Series> series, bool http_ok, bool ignore_null_values);

/// Returns a metric or target as a Kubernetes quantity in thousandths: NaN, infinite and negative values become 0. A
/// value above about 9.2e15, whose thousandths do not fit 64 bits, is clamped. KEDA keeps its whole part instead.
std::int64_t quantity_milli(double value);

enum class MetricType : std::uint8_t { average_value, value };

// Fallback.

struct Fallback {
  enum class Behavior : std::uint8_t {
    unset,  ///< like `fixed`, but fails if the current replicas are unknown
    fixed,  ///< "static"
    current_replicas,
    current_replicas_if_higher,
    current_replicas_if_lower,
  };
  std::int64_t failure_threshold = 0;  ///< number of failures after which the next one engages the fallback
  ReplicaCount replicas = 0;
  Behavior behavior = Behavior::unset;

  bool valid() const { return failure_threshold >= 0 && replicas >= 0; }
};

/// status.health of one metric.
struct Health {
  std::int64_t failures = 0;
  bool failing = false;
};

struct FallbackResult {
  std::optional<double> value;  ///< empty: the scaler's error is passed on
  bool is_fallback = false;     ///< true: the value is the fallback's, and the trigger counts as active
};

/// Returns the value that the HPA receives for one metric. The fallback of a metric of type `value` is divided by the
/// ready replicas.
/// @param fallback empty or invalid: `health` is left unchanged
/// @param scaler_value empty: the scaler failed
/// @param current_replicas empty: unknown
FallbackResult with_fallback(const std::optional<Fallback>& fallback, std::optional<Health>& health,
                             std::optional<double> scaler_value, double target, MetricType type,
                             std::optional<ReplicaCount> current_replicas, ReplicaCount ready_replicas);

/// Returns true if any metric of the object has failed more often than the threshold.
bool is_fallback_active(const std::optional<Fallback>& fallback, std::span<const Health> metrics);

// Between zero and one replica.

struct ScaledObject {
  ReplicaCount min_replicas = 0;
  std::optional<ReplicaCount> idle_replicas;
  Duration cooldown = std::chrono::seconds(300);  ///< time without an active trigger before the scale to zero
  Duration initial_cooldown{};                    ///< age before the scale to zero if no trigger was ever active
  std::optional<Fallback> fallback;
  bool paused = false;          ///< true: annotation autoscaling.keda.sh/paused, or paused-replicas
  bool pause_scale_in = false;  ///< true: annotation paused-scale-in
  bool pause_scale_out = false;
  bool force_activation = false;
};

struct Triggers {
  bool active = false;  ///< true: a value is above its activation threshold
  bool error = false;   ///< true: a scaler failed
};

struct Activation {
  ReplicaCount replicas = 0;
  bool active_condition = false;
};

/// Evaluates the operator once; KEDA does it every pollingInterval.
/// @param idle_for time since a trigger was last active; empty: no trigger ever was active
Activation activate(const ScaledObject& object, const Triggers& triggers, ReplicaCount current,
                    std::optional<Duration> idle_for, Duration age);

}  // namespace capstan::peers::keda
