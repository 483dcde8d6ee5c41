#include "peers/formula/ray_serve.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace capstan::peers::ray_serve {
namespace {

/// Computes Python's int(math.ceil(x)), clamped to a plausible replica count.
ReplicaCount ceil_of(double value) {
  return std::isnan(value) ? 0 : static_cast<ReplicaCount>(std::clamp(std::ceil(value), -1e15, 1e15));
}

/// Ray's tolerance for inexact clock differences.
constexpr Duration kSlack = std::chrono::microseconds(1);

/// Counts one more decision in a direction. Returns true if the direction has lasted for `delay`.
bool has_lasted_for(State& state, std::int64_t direction, Duration delay, Instant now) {
  const bool turned = state.counter * direction < 0;
  if (turned) state = {};
  if (!state.since) state.since = now;
  state.counter += direction;
  if (now - *state.since + kSlack < delay) return false;
  state = {};
  return true;
}

/// Rounds to 10 ms in doubles, as Ray does.
Instant on_grid(Instant at) {
  const double seconds = static_cast<double>(at.since_start.count()) / 1e9;
  return {std::chrono::milliseconds(10) * std::llround(seconds * 100)};
}

}  // namespace

double wanted(double total_requests, ReplicaCount running, const Config& config) {
  const auto replicas = static_cast<double>(running);
  return replicas * (total_requests / (config.target_ongoing_requests * replicas));
}

ReplicaCount apply_factor(double wanted, ReplicaCount current, const Config& config) {
  if (current == 0) return ceil_of(wanted);
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
  if (scaled > target) return has_lasted_for(state, 1, config.upscale_delay, now) ? scaled : target;
  const bool to_zero = target == 1;
  const Duration delay =
      to_zero ? config.downscale_to_zero_delay.value_or(config.downscale_delay) : config.downscale_delay;
  const ReplicaCount least = to_zero ? 0 : 1;
  return has_lasted_for(state, -1, delay, now) ? std::max(least, scaled) : target;
}

ReplicaCount decide(const Observation& observed, const Config& config, State& state, Instant now) {
  if (observed.running == 0 && observed.total_requests > 0) {
    return std::max(ceil_of(config.upscaling_factor), observed.target);
  }
  const auto by_load = [&] {
    return observed.running == 0 ? static_cast<double>(observed.target)
                                 : wanted(observed.total_requests, observed.running, config);
  };
  const double raw = observed.raw_wanted ? *observed.raw_wanted : by_load();
  const ReplicaCount scaled = apply_factor(raw, observed.running, config);
  if (observed.running == 0 && scaled > 0) return scaled;
  return apply_delay(std::max<ReplicaCount>(0, scaled), observed.target, config, state, now);
}

ReplicaCount round_to_gangs(double raw, std::int64_t gang_size, std::optional<ReplicaCount> min,
                            std::optional<ReplicaCount> max) {
  const ReplicaCount rounded = ceil_of(raw / static_cast<double>(gang_size)) * gang_size;
  const ReplicaCount below_max = std::min(rounded, max.value_or(rounded));
  return std::max(below_max, min.value_or(below_max));
}

std::vector<Point> merged_total(const std::vector<std::vector<Point>>& series) {
  struct Report {
    Instant at;
    std::size_t series = 0;
    double value = 0;
  };
  std::vector<Report> reports;
  std::size_t reporting = 0, last = 0;
  for (std::size_t i = 0; i < series.size(); ++i) {
    for (const Point& point : series[i]) reports.push_back({point.at, i, point.value});
    if (series[i].empty()) continue;
    ++reporting;
    last = i;
  }
  if (reporting == 0) return {};
  if (reporting == 1) return series[last];
  std::ranges::stable_sort(reports, {}, &Report::at);
  std::vector<double> values(series.size(), 0);
  std::vector<Point> total;
  double sum = 0;
  for (const Report& report : reports) {
    const double before = std::exchange(values[report.series], report.value);
    sum += report.value - before;
    if (report.value == before) continue;
    const Instant at = on_grid(report.at);
    if (total.empty() || total.back().at != at) total.push_back({at, 0});
    total.back().value = sum;
  }
  return total;
}

Instant complete_from(const std::vector<std::vector<Point>>& series, const std::vector<Point>& total) {
  Instant complete = total.front().at;
  for (const std::vector<Point>& reports : series) {
    if (!reports.empty()) complete = std::max(complete, reports.front().at);
  }
  return complete <= total.back().at ? complete : total.front().at;
}

std::optional<double> time_average(const std::vector<Point>& steps, Instant from, Instant until) {
  if (until <= from) return std::nullopt;
  double value = 0, weighted = 0, seconds = 0;
  const auto hold = [&](Instant end) {
    const double length = static_cast<double>((end - from).count()) / 1e9;
    weighted += value * length;
    seconds += length;
    from = end;
  };
  for (const Point& step : steps) {
    if (step.at >= until) break;
    if (step.at > from) hold(step.at);
    value = step.value;
  }
  hold(until);
  return weighted / seconds;
}

std::optional<double> merged_average(const std::vector<std::vector<Point>>& handles, Instant from, Instant until) {
  const std::vector<Point> total = merged_total(handles);
  if (total.empty()) {
    const bool reported = std::ranges::any_of(handles, [](const auto& handle) { return !handle.empty(); });
    return reported ? std::optional(0.0) : std::nullopt;
  }
  const std::optional<double> average = time_average(total, std::max(from, complete_from(handles, total)), until);
  return average ? average : total.back().value;
}

}  // namespace capstan::peers::ray_serve
