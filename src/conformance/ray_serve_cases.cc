#include <algorithm>

#include "conformance/peers.h"
#include "peers/formula/ray_serve.h"

namespace capstan::conformance {
namespace {

using namespace peers;

constexpr std::int64_t kMaxEvaluations = 1'000'000;  ///< bound of evaluations in one case

ray_serve::Config ray_serve_config(const CaseInput& given) {
  ray_serve::Config config;
  config.target_ongoing_requests = given["target_ongoing"].number(1e-6, 1e9);
  config.upscaling_factor = given["upscaling_factor"].number(0, 1e6);
  config.downscaling_factor = given["downscaling_factor"].number(0, 1e6);
  config.upscale_delay = given["upscale_delay_s"].seconds();
  config.downscale_delay = given["downscale_delay_s"].seconds();
  config.downscale_to_zero_delay = given.find("downscale_to_zero_delay_s").seconds_or_null();
  return config;
}

double load(const CaseInput& given) { return given.number(0, 1e9); }
ReplicaCount replicas_of(const CaseInput& given) { return given.integer(0, kMaxReplicas); }

// The limits of `moment` and `pause` are low enough that a moment plus a million pauses fits into an Instant.
Instant moment(const CaseInput& given) { return Instant{given.seconds(0, 1e9)}; }
Duration pause(const CaseInput& given) { return given.seconds(0, 3600); }

/// Runs one evaluation of a step. The step states the total requests, the count that a user's policy asks for, or the
/// count after the up- or downscaling factor. If it states the last one, the function applies only the delays.
ReplicaCount evaluate(const CaseInput& step, ReplicaCount running, ReplicaCount target, const ray_serve::Config& config,
                      ray_serve::State& state, Instant now) {
  if (const CaseInput scaled = step.find("scaled_wanted")) {
    return ray_serve::apply_delay(scaled.integer(-kMaxReplicas, kMaxReplicas), target, config, state, now);
  }
  ray_serve::Observation observed;
  if (const CaseInput total = step.find("total_requests")) observed.total_requests = load(total);
  if (const CaseInput raw = step.find("raw_wanted")) observed.raw_wanted = load(raw);
  observed.running = running;
  observed.target = target;
  return ray_serve::decide(observed, config, state, now);
}

Value policy(const CaseInput& given) {
  const ray_serve::Config config = ray_serve_config(given["config"]);
  const bool chained = given.find("chain") && given["chain"].boolean();
  ray_serve::State state;
  Instant now;
  std::int64_t evaluations = 0;
  std::optional<ReplicaCount> last;
  Value::Array results;
  for (const CaseInput& step : given["steps"].list()) {
    if (const CaseInput stated = step.find("now_s")) now = moment(stated);
    const Duration between = step.find("dt_s") ? pause(step["dt_s"]) : ray_serve::kControlLoop;
    const std::int64_t repeat = step.find("repeat") ? step["repeat"].integer(1, kMaxEvaluations) : 1;
    if ((evaluations += repeat) > kMaxEvaluations) {
      step.fail("at most 1000000 evaluations in a case");
      break;
    }
    Value::Array distinct;  // every repetition should give the same answer
    for (std::int64_t i = 0; i < repeat; ++i, now = now + between) {
      const ReplicaCount running = chained && last ? *last : replicas_of(step["current"]);
      const ReplicaCount target = chained && last ? *last : replicas_of(step["target"]);
      const ReplicaCount answer = evaluate(step, running, target, config, state, now);
      if (distinct.empty() || *distinct.back().integer() != answer) distinct.push_back(answer);
      last = answer;
    }
    results.push_back(distinct.size() == 1 ? std::move(distinct.front()) : Value(std::move(distinct)));
  }
  return object({{"steps", std::move(results)}, {"final", last ? Value(*last) : Value()}});
}

Value scale_factor(const CaseInput& given) {
  ray_serve::Config config;
  config.upscaling_factor = given["upscaling_factor"].number(0, 1e6);
  config.downscaling_factor = given["downscaling_factor"].number(0, 1e6);
  return object({{"replicas", ray_serve::apply_factor(load(given["wanted"]), replicas_of(given["current"]), config)}});
}

Value delay_state(const CaseInput& given) {
  ray_serve::Config config;
  config.upscale_delay = given["upscale_delay_s"].seconds();
  config.downscale_delay = given["downscale_delay_s"].seconds();
  ray_serve::State state{given["counter"].integer(-kMaxReplicas, kMaxReplicas), std::nullopt};
  if (const CaseInput since = given["since_s"]) state.since = moment(since);
  ray_serve::apply_delay(replicas_of(given["wanted"]), replicas_of(given["target"]), config, state,
                         moment(given["now_s"]));
  return object(
      {{"counter", state.counter},
       {"since_s", state.since ? Value(static_cast<double>(state.since->since_start.count()) / 1e9) : Value()}});
}

/// Simulates a loop that evaluates every `iteration_s`. Returns the time at which it applies a scale-up that it wants
/// from time 0 on.
Value slow_loop(const CaseInput& given) {
  ray_serve::Config config;
  config.upscale_delay = given["upscale_delay_s"].seconds();
  const double iteration_s = given["iteration_s"].number(1e-3, 1e6);
  if (given["upscale_delay_s"].number() / iteration_s > static_cast<double>(kMaxEvaluations)) {
    given["iteration_s"].fail("at most 1000000 evaluations in a case");
    return {};
  }
  const Duration iteration = given["iteration_s"].seconds();
  ray_serve::State state;
  Instant now;
  while (ray_serve::apply_delay(2, 1, config, state, now) == 1) now = now + iteration;
  const auto seconds = [](Duration time) { return static_cast<double>(time.count()) / 1e9; };
  return object({{"fire_s", seconds(now.since_start)},
                 {"fire_s_min", seconds(config.upscale_delay)},
                 {"fire_s_max", seconds(config.upscale_delay + iteration)}});
}

Value gang(const CaseInput& given) {
  const auto bound = [&](const char* key) {
    return given.find(key) ? std::optional(replicas_of(given[key])) : std::nullopt;
  };
  Value::Array rounded;
  for (const CaseInput& raw : given["raw"].list()) {
    rounded.push_back(
        ray_serve::round_to_gangs(load(raw), given["gang_size"].integer(1, 1'000'000), bound("min"), bound("max")));
  }
  return object({{"replicas", std::move(rounded)}});
}

std::vector<ray_serve::Point> series_of(const CaseInput& given) {
  constexpr double kLatest = 3.9e9;  // seconds since 1970, in the year 2093; about half of what the clock holds
  std::vector<ray_serve::Point> points;
  for (const CaseInput& report : given.list()) {
    const std::vector<CaseInput> parts = report.list();
    if (parts.size() != 2) {
      report.fail("[time_s, value]");
      return {};
    }
    const Instant at{parts[0].seconds(0, kLatest)};
    if (!points.empty() && at < points.back().at) parts[0].fail("a time not before the previous report");
    points.push_back({at, load(parts[1])});
  }
  return points;
}

/// Computes the mean of the sum of all series twice: from the first report on, and from the first time at which every
/// series has reported. The last report holds for `last_point_holds_s`.
Value merged_average(const CaseInput& given) {
  std::vector<std::vector<ray_serve::Point>> series;
  for (const CaseInput& item : given["series"].list()) series.push_back(series_of(item));
  const Duration holds = given["last_point_holds_s"].seconds(0, 1e9);
  const std::vector<ray_serve::Point> total = ray_serve::merged_total(series);
  const auto average_from = [&](Instant from) {
    const std::optional<double> average = ray_serve::time_average(total, from, total.back().at + holds);
    return average ? Value(*average) : Value();
  };
  const bool has_steps = !total.empty();
  return object(
      {{"average_from_first_point", has_steps ? average_from(total.front().at) : Value()},
       {"average_from_all_reported", has_steps ? average_from(ray_serve::complete_from(series, total)) : Value()}});
}

constexpr Kind kRayServeKinds[] = {
    {"policy", policy}, {"scale_factor", scale_factor},     {"delay_state", delay_state}, {"slow_loop", slow_loop},
    {"gang", gang},     {"merged_average", merged_average},
};

}  // namespace

std::span<const Kind> ray_serve_kinds() { return kRayServeKinds; }

}  // namespace capstan::conformance
