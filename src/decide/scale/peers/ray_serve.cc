#include "decide/scale/peers/ray_serve.h"

#include <algorithm>
#include <cmath>

namespace capstan::decide::scale::ray_serve {
namespace {

/// Python's int(math.ceil(x)) of what is a replica count in earnest; what is not one is the nearest that is.
ReplicaCount ceil_of(double value) {
  return std::isnan(value) ? 0 : static_cast<ReplicaCount>(std::clamp(std::ceil(value), -1e15, 1e15));
}

/// Counts one more decision of a direction; true once the direction has lasted for `delay`.
bool lasted(State& state, std::int64_t direction, Duration delay, Instant now) {
  const bool turned = state.counter * direction <= 0;
  if (turned || !state.since) state = {0, now};
  state.counter += direction;
  if (now - *state.since < delay) return false;
  state = {};
  return true;
}

}  // namespace

double wanted(double total_requests, ReplicaCount running, const Config& config) {
  const auto replicas = static_cast<double>(running);
  return replicas * (total_requests / (config.target_ongoing_requests * replicas));
}

ReplicaCount apply_factor(double wanted, ReplicaCount current, const Config& config) {
  const auto replicas = static_cast<double>(current);
  const double factor = wanted > replicas ? config.upscaling_factor : config.downscaling_factor;
  const ReplicaCount scaled = ceil_of(replicas + factor * (wanted - replicas));
  const bool stuck = scaled == current && ceil_of(wanted) < current;
  return stuck ? scaled - 1 : scaled;
}

ReplicaCount apply_delay(ReplicaCount scaled, ReplicaCount target, const Config& config, State& state, Instant now) {
  if (scaled == target) {
    state = {};
    return target;
  }
  if (scaled > target) return lasted(state, 1, config.upscale_delay, now) ? scaled : target;
  const bool to_zero = target == 1;
  const Duration delay =
      to_zero ? config.downscale_to_zero_delay.value_or(config.downscale_delay) : config.downscale_delay;
  const ReplicaCount least = to_zero ? 0 : 1;
  return lasted(state, -1, delay, now) ? std::max(least, scaled) : target;
}

ReplicaCount decide(const Observed& observed, const Config& config, State& state, Instant now) {
  if (observed.running == 0) {
    if (observed.total_requests <= 0) return observed.target;
    return std::max(ceil_of(config.upscaling_factor), observed.target);
  }
  const double raw = observed.raw_wanted.value_or(wanted(observed.total_requests, observed.running, config));
  return apply_delay(apply_factor(raw, observed.running, config), observed.target, config, state, now);
}

ReplicaCount round_to_gangs(double raw, std::int64_t gang_size, std::optional<ReplicaCount> min,
                            std::optional<ReplicaCount> max) {
  const ReplicaCount rounded = ceil_of(raw / static_cast<double>(gang_size)) * gang_size;
  return std::min(std::max(rounded, min.value_or(rounded)), max.value_or(std::max(rounded, min.value_or(rounded))));
}

std::optional<double> merged_average(const std::vector<std::vector<Point>>& handles, Instant from, Instant until) {
  std::vector<Instant> moments;
  for (const std::vector<Point>& handle : handles) {
    if (handle.empty()) continue;
    from = std::max(from, handle.front().at);
    for (const Point& point : handle) moments.push_back(point.at);
  }
  if (moments.empty()) return std::nullopt;
  moments.push_back(from);
  std::ranges::sort(moments);
  const auto total_at = [&](Instant at) {
    double total = 0;
    for (const std::vector<Point>& handle : handles) {
      const auto after = std::ranges::upper_bound(handle, at, {}, &Point::at);
      if (after != handle.begin()) total += std::prev(after)->value;
    }
    return total;
  };
  double weighted = 0, seconds = 0;
  for (std::size_t i = 0; i < moments.size(); ++i) {
    const Instant end = i + 1 < moments.size() ? moments[i + 1] : until;
    if (moments[i] < from || end <= moments[i]) continue;
    const double length = static_cast<double>((end - moments[i]).count()) / 1e9;
    weighted += total_at(moments[i]) * length;
    seconds += length;
  }
  return seconds > 0 ? weighted / seconds : total_at(moments.back());
}

}  // namespace capstan::decide::scale::ray_serve
