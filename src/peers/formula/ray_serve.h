#pragma once

#include <optional>
#include <vector>

#include "base/quantity.h"
#include "base/time.h"

/// Ray Serve's autoscaling policy as specified by its tests of late 2026: it measures delays by the clock, and its
/// caller applies the bounds. An older version of Ray counts decisions (one every 0.1 s) instead of time and can differ
/// by one decision. Source: ray-project/ray python/ray/serve/autoscaling_policy.py, config.py.
namespace capstan::peers::ray_serve {

/// autoscaling_config of a deployment, with its defaults.
struct Config {
  double target_ongoing_requests = 2;  ///< queued and running requests per replica
  double upscaling_factor = 1;         ///< part of the difference applied in one decision
  double downscaling_factor = 1;
  Duration upscale_delay = std::chrono::seconds(30);
  Duration downscale_delay = std::chrono::seconds(600);
  std::optional<Duration> downscale_to_zero_delay;  ///< delay of the step to 0; empty: downscale_delay
};

inline constexpr Duration kControlLoop = std::chrono::milliseconds(100);

/// Pending decisions in one direction.
struct State {
  std::int64_t counter = 0;      ///< above 0: scale up; below 0: scale down
  std::optional<Instant> since;  ///< time of the first pending decision
};

/// Returns the replicas for the load alone: running * (total / (target * running)), in this order of doubles, which
/// does not always equal total / target. `running` is at least 1.
double wanted(double total_requests, ReplicaCount running, const Config& config);

/// Returns `current` plus the difference to `wanted` times the factor of the direction, rounded up. If this gives
/// `current`, but `wanted` is lower even when it is rounded up, returns one less. May be below 0. From 0 it returns
/// `wanted`, rounded up, without the factor.
ReplicaCount apply_factor(double wanted, ReplicaCount current, const Config& config);

/// Holds a change back until it has been wanted without interruption for the delay of its direction. Never goes from
/// more than 1 to 0 in one step.
ReplicaCount apply_delay(ReplicaCount scaled, ReplicaCount target, const Config& config, State& state, Instant now);

struct Observation {
  double total_requests = 0;         ///< requests of all replicas and handles, mean of the look-back period
  std::optional<double> raw_wanted;  ///< result of a user's policy, instead of `wanted`
  ReplicaCount running = 0;
  ReplicaCount target = 0;  ///< replicas of the last answer, whether or not they run yet
};

/// Evaluates the policy once. With no replica running, any request immediately asks for one replica times the upscaling
/// factor, or for the target if it is higher. With no replica running and no requests, a user's policy that asks for
/// replicas is applied immediately; without such a policy the target stays. The caller applies the bounds.
ReplicaCount decide(const Observation& observed, const Config& config, State& state, Instant now);

/// One report of a handle or replica. Its value holds until the next report.
struct Point {
  Instant at;
  double value = 0;
};

/// Returns the sum of all series as a step function; a series counts from its first report. Ray aligns the steps of
/// several series to a grid of 10 ms and omits steps without a change. A sum that is 0 at first therefore begins later
/// than its reports. A single series is returned unchanged.
/// @param series each ordered by time
std::vector<Point> merged_total(const std::vector<std::vector<Point>>& series);

/// Returns the moment at which every series has reported, so that `total`, their sum, is complete. If all steps are
/// before that moment, returns the moment of the first step, as Ray does. `total` must not be empty.
Instant complete_from(const std::vector<std::vector<Point>>& series, const std::vector<Point>& total);

/// Returns the time average of a step function that is 0 before its first step and keeps its last value. Empty if
/// `from` is not before `until`.
std::optional<double> time_average(const std::vector<Point>& steps, Instant from, Instant until);

/// Returns the mean of the sum over all handles, from the moment at which every handle has reported, because earlier
/// sums are incomplete. Empty if no handle reported.
/// @param handles  each ordered by time; one without reports does not count
/// @param from     lower bound of the period
/// @param until    the last values hold until this moment
std::optional<double> merged_average(const std::vector<std::vector<Point>>& handles, Instant from, Instant until);

/// Rounds up to whole gangs, then applies min and max, which may cut a gang; min takes precedence.
ReplicaCount round_to_gangs(double raw, std::int64_t gang_size, std::optional<ReplicaCount> min,
                            std::optional<ReplicaCount> max);

}  // namespace capstan::peers::ray_serve
