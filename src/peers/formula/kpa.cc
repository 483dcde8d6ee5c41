#include "peers/formula/kpa.h"

#include <algorithm>
#include <cmath>

namespace capstan::peers::kpa {
namespace {

/// Converts like Go's int32(float64), but clamps to the range.
std::int64_t to_int32(double value) {
  return std::isnan(value) ? 0 : static_cast<std::int64_t>(std::clamp(value, -2147483648.0, 2147483647.0));
}

/// Enters, prolongs or leaves panic mode. Panic mode ends more than one stable window after the threshold was last
/// reached.
void update_panic(const Spec& spec, State& state, bool over, Instant now) {
  if (over) {
    state.last_panic_at = now;
  } else if (state.last_panic_at && *state.last_panic_at + spec.stable_window < now) {
    state.last_panic_at.reset();
    state.max_panic_pods = 0;
  }
}

std::int64_t excess_burst_capacity(const Spec& spec, ReplicaCount ready, double panic) {
  if (spec.target_burst_capacity == 0) return 0;
  if (spec.target_burst_capacity < 0) return -1;
  const double capacity = static_cast<double>(ready) * spec.total;
  return to_int32(std::floor(capacity - spec.target_burst_capacity - panic));
}

}  // namespace

State begin(const Spec& spec, std::optional<ReplicaCount> ready_pods, Instant now) {
  State state;
  state.max_panic_pods = ready_pods.value_or(0);
  if (state.max_panic_pods > 1) state.last_panic_at = now;
  if (spec.scale_down_delay > Duration{}) state.delay.emplace(spec.scale_down_delay, kTick);
  return state;
}

Result decide(const Spec& spec, State& state, const Observation& observed, Instant now) {
  if (!observed.ready_pods || !observed.stable || !observed.panic) return {};
  const double ready = std::max(1.0, static_cast<double>(*observed.ready_pods));
  // The upper limit is rounded up, so that a rate of 1.1 raises two pods to three.
  const double most = std::ceil(spec.max_scale_up_rate * ready);
  const double least = spec.reachable ? std::floor(ready / spec.max_scale_down_rate) : 0.0;
  const double stable_wish = std::ceil(*observed.stable / spec.target);
  const double panic_wish = std::ceil(*observed.panic / spec.target);
  const auto bounded = [&](double wish) {
    const ReplicaCount pods = to_int32(std::min(std::max(wish, least), most));
    const bool activates = spec.activation_scale > 1 && wish > 0;
    return activates ? std::max(pods, spec.activation_scale) : pods;
  };
  const ReplicaCount stable = bounded(stable_wish), panic = bounded(panic_wish);

  // The panic threshold is compared with the wanted pods before the rates limit them.
  update_panic(spec, state, panic_wish / ready >= spec.panic_threshold, now);
  ReplicaCount desired = stable;
  if (state.last_panic_at) {
    state.max_panic_pods = std::max({state.max_panic_pods, stable, panic});
    desired = state.max_panic_pods;
  }
  if (spec.reachable && state.delay) {
    state.delay->record(now, desired);
    desired = state.delay->max();
  }
  return {true, desired, excess_burst_capacity(spec, *observed.ready_pods, *observed.panic)};
}

Target resolve_target(const TargetSettings& settings) {
  constexpr double kMin = 0.01;
  const bool limited = !settings.by_rate && settings.container_concurrency != 0;
  double total = limited ? settings.container_concurrency : settings.default_target;
  if (settings.target_annotation) {
    total = *settings.target_annotation;
    if (limited) total = std::min(total, settings.container_concurrency);
  }
  const double utilization = settings.utilization_percent ? *settings.utilization_percent / 100 : settings.utilization;
  return {std::max(kMin, total * utilization), total};
}

}  // namespace capstan::peers::kpa
