#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/quantity.h"
#include "base/time.h"

/// What KEDA does around the HPA: it turns a query's answer into a metric, stands in for one that fails, and alone
/// decides between none and some. Between one and many only the HPA decides. Source: kedacore/keda pkg/scalers,
/// pkg/fallback, pkg/scaling/executor.
namespace capstan::decide::scale::keda {

/// The lower bound of the HPA that KEDA makes: an HPA without its gate cannot hold 0.
constexpr ReplicaCount hpa_minimum(ReplicaCount min_replicas) { return min_replicas > 1 ? min_replicas : 1; }

// The Prometheus scaler.

/// One series of an instant query's answer; Prometheus writes [timestamp, "value"].
struct Series {
  std::size_t parts = 0;  ///< of its value: 2 in a sound answer
  std::optional<std::string_view> value;
};

/// The metric, or nothing where the scaler reports an error. No series, an empty value, NaN and the infinities are 0
/// without an error when null values are ignored, which is the default: a gap in the scrapes looks like no load
/// (replicas.md §2.2).
std::optional<double> prometheus_value(std::span<const Series> series, bool http_ok, bool ignore_null_values);

/// A metric or target as a Kubernetes quantity in thousandths: NaN, infinite or negative values are 0. What does not
/// fit 64 bits of thousandths is the most that does (KEDA keeps its whole part, 9e15 and more, in full).
std::int64_t quantity_milli(double value);

enum class MetricType : std::uint8_t { average_value, value };

// Fallback.

struct Fallback {
  enum class Behavior : std::uint8_t {
    unset,  ///< like `fixed`, but gives up where the current replicas cannot be had
    fixed,  ///< "static"
    current_replicas,
    current_replicas_if_higher,
    current_replicas_if_lower,
  };
  std::int64_t failure_threshold = 0;  ///< engages at the failure after these
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
  std::optional<double> value;  ///< nothing: the scaler's error is passed on
  bool stood_in = false;        ///< the value is the fallback's: the trigger counts as active
};

/// What the HPA is given for one metric. A value type is divided by the replicas that are ready.
/// @param fallback nothing or invalid: `health` is not touched, neither by success nor by failure
/// @param scaler_value nothing: the scaler failed
/// @param current_replicas nothing: they cannot be had
FallbackResult with_fallback(const std::optional<Fallback>& fallback, std::optional<Health>& health,
                             std::optional<double> scaler_value, double target, MetricType type,
                             std::optional<ReplicaCount> current_replicas, ReplicaCount ready_replicas);

/// Whether the object reports a fallback: any of its metrics fails beyond the threshold.
bool is_fallback_active(const std::optional<Fallback>& fallback, std::span<const Health> metrics);

// Between none and some.

struct ScaledObject {
  ReplicaCount min_replicas = 0;
  std::optional<ReplicaCount> idle_replicas;
  Duration cooldown = std::chrono::seconds(300);  ///< since a trigger was last active
  Duration initial_cooldown{};                    ///< since creation, where none ever was
  std::optional<Fallback> fallback;
  bool paused = false;          ///< annotation autoscaling.keda.sh/paused, or paused-replicas
  bool pause_scale_in = false;  ///< annotations paused-scale-in and paused-scale-out
  bool pause_scale_out = false;
  bool force_activation = false;
};

struct Triggers {
  bool active = false;  ///< any value is above its activation threshold
  bool error = false;   ///< any scaler failed
};

struct Activation {
  ReplicaCount replicas = 0;
  bool active_condition = false;
};

/// One round of the operator, every pollingInterval.
/// @param idle_for since a trigger was last active; nothing: none ever was
Activation activate(const ScaledObject& object, const Triggers& triggers, ReplicaCount current,
                    std::optional<Duration> idle_for, Duration age);

}  // namespace capstan::decide::scale::keda
