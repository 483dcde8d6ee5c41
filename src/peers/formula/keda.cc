#include "peers/formula/keda.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace capstan::peers::keda {
namespace {

/// Parses a sample like strconv.ParseFloat: a decimal, or a name of infinity or NaN.
std::optional<double> parse_float(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fault != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

/// Truncates a fallback value to thousandths, as a Kubernetes quantity.
double truncated_to_milli(double milli) { return std::trunc(milli) / 1000; }

ReplicaCount fallback_replicas(const Fallback& fallback, ReplicaCount current) {
  switch (fallback.behavior) {
    case Fallback::Behavior::unset:
    case Fallback::Behavior::fixed:
      break;
    case Fallback::Behavior::current_replicas:
      return current;
    case Fallback::Behavior::current_replicas_if_higher:
      return std::max(current, fallback.replicas);
    case Fallback::Behavior::current_replicas_if_lower:
      return std::min(current, fallback.replicas);
  }
  return fallback.replicas;
}

Activation when_active(const ScaledObject& object, ReplicaCount current) {
  const bool below = current == 0 || (object.idle_replicas && current < object.min_replicas);
  if (!below || object.pause_scale_out) return {current, true};
  return {std::max<ReplicaCount>(1, object.min_replicas), true};
}

bool cooled_down(const ScaledObject& object, std::optional<Duration> idle_for, Duration age) {
  return idle_for ? *idle_for > object.cooldown : age > object.initial_cooldown;
}

Activation when_inactive(const ScaledObject& object, bool error, ReplicaCount current, std::optional<Duration> idle_for,
                         Duration age) {
  // If a scaler fails, KEDA keeps the current replicas until the HPA receives the metric of the fallback. It does not
  // keep them if the fallback is 0 replicas.
  const bool is_fallback_zero = object.fallback && object.fallback->replicas == 0;
  if (error && !is_fallback_zero) return {current, false};
  const bool above_idle = object.idle_replicas && current > *object.idle_replicas;
  if (above_idle || (current > 0 && object.min_replicas == 0)) {
    if (object.pause_scale_in || !cooled_down(object, idle_for, age)) return {current, false};
    return {object.idle_replicas.value_or(object.min_replicas), false};
  }
  // A scale-up to the minimum has no cool-down.
  if (current < object.min_replicas && !object.idle_replicas) return {object.min_replicas, false};
  return {current, false};
}

}  // namespace

std::optional<double> prometheus_value(std::span<const Series> series, bool http_ok, bool ignore_null_values) {
  const std::optional<double> null = ignore_null_values ? std::optional(0.0) : std::nullopt;
  if (!http_ok) return std::nullopt;
  if (series.empty()) return null;
  if (series.size() > 1) return std::nullopt;
  if (series.front().parts == 0) return null;
  if (series.front().parts < 2) return std::nullopt;
  constexpr double kNothingRead = -1;
  if (!series.front().value) return kNothingRead;
  const std::optional<double> value = parse_float(*series.front().value);
  return !value || std::isfinite(*value) ? value : null;
}

std::int64_t quantity_milli(double value) {
  if (!std::isfinite(value) || value <= 0) return 0;
  constexpr double kMaxMilli = 9223372036854774784.0;  // the largest double below 2^63
  const double milli = value * 1000;
  return static_cast<std::int64_t>(std::min(milli, kMaxMilli));
}

FallbackResult with_fallback(const std::optional<Fallback>& fallback, std::optional<Health>& health,
                             std::optional<double> scaler_value, double target, MetricType type,
                             std::optional<ReplicaCount> current_replicas, ReplicaCount ready_replicas) {
  const bool enabled = fallback && fallback->valid();
  if (!enabled) return {scaler_value, false};
  if (scaler_value) {
    health = Health{};
    return {scaler_value, false};
  }
  health = Health{health.value_or(Health{}).failures + 1, true};
  if (health->failures <= fallback->failure_threshold) return {};
  if (fallback->behavior != Fallback::Behavior::fixed && !current_replicas) return {};
  auto replicas = static_cast<double>(fallback_replicas(*fallback, current_replicas.value_or(0)));
  if (type == MetricType::value) {
    if (ready_replicas == 0) return {};
    replicas /= static_cast<double>(ready_replicas);
  }
  return {truncated_to_milli(target * 1000 * replicas), true};
}

bool is_fallback_active(const std::optional<Fallback>& fallback, std::span<const Health> metrics) {
  return fallback && fallback->valid() && std::ranges::any_of(metrics, [&](const Health& health) {
           return health.failing && health.failures > fallback->failure_threshold;
         });
}

Activation activate(const ScaledObject& object, const Triggers& triggers, ReplicaCount current,
                    std::optional<Duration> idle_for, Duration age) {
  if (object.paused) return {current, false};
  if (triggers.active || object.force_activation) return when_active(object, current);
  return when_inactive(object, triggers.error, current, idle_for, age);
}

}  // namespace capstan::peers::keda
