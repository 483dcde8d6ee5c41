#pragma once

#include <optional>
#include <vector>

#include "base/quantity.h"
#include "base/time.h"

/// Ray Serve's autoscaling policy, as its tests of late 2026 ask for it: delays by the clock, bounds by the caller. An
/// older version counts decisions instead of time (one every 0.1 s) and differs by one of them. Source: ray-project/ray
/// python/ray/serve/autoscaling_policy.py, config.py.
namespace capstan::decide::scale::ray_serve {

/// autoscaling_config of a deployment, with its defaults.
struct Config {
  double target_ongoing_requests = 2;  ///< queued and running, a replica
  double upscaling_factor = 1;         ///< how much of the way is gone in one decision
  double downscaling_factor = 1;
  Duration upscale_delay = std::chrono::seconds(30);
  Duration downscale_delay = std::chrono::seconds(600);
  std::optional<Duration> downscale_to_zero_delay;  ///< nothing: downscale_delay
};

inline constexpr Duration kControlLoop = std::chrono::milliseconds(100);

/// The decisions in one direction that were not carried out yet.
struct State {
  std::int64_t counter = 0;      ///< above 0: to go up; below 0: to go down
  std::optional<Instant> since;  ///< the first of them
};

/// Wanted by the load alone: running * (total / (target * running)), in this order of doubles, which is not always
/// total / target. `running` is at least 1.
double wanted(double total_requests, ReplicaCount running, const Config& config);

/// Part of the way from `current` to `wanted`, rounded up; at least one step down where there is any to go. May be
/// below 0. From 0 the whole way: a factor would grow without end there.
ReplicaCount apply_factor(double wanted, ReplicaCount current, const Config& config);

/// Holds a change back until it has been wanted for its delay without a break. From more than 1 it never goes to 0 at
/// once.
ReplicaCount apply_delay(ReplicaCount scaled, ReplicaCount target, const Config& config, State& state, Instant now);

struct Observed {
  double total_requests = 0;         ///< over all replicas and handles, mean of the look-back period
  std::optional<double> raw_wanted;  ///< of a policy of the user, instead of `wanted`
  ReplicaCount running = 0;
  ReplicaCount target = 0;  ///< the last wish: starting replicas do not lower the next one
};

/// One evaluation. With nothing running any request asks at once for one replica times the factor; without one a policy
/// of the user is followed at once, and else the target is kept. Bounds are the caller's.
ReplicaCount decide(const Observed& observed, const Config& config, State& state, Instant now);

/// One report of a handle or replica: its value holds until the next one.
struct Point {
  Instant at;
  double value = 0;
};

/// The sum of what all series say at every moment, as a step function; a series counts from its first report on. Ray
/// puts the steps of several series on a grid of 10 ms and has none where nothing changes, so that a sum that begins
/// with 0 begins later than its reports. A series that is alone is given as it is.
/// @param series each in the order of time
std::vector<Point> merged_total(const std::vector<std::vector<Point>>& series);

/// When every series has reported, so that `total`, their sum, lacks none of them; where no step of it comes after
/// that, Ray begins with its first. `total` has steps.
Instant complete_from(const std::vector<std::vector<Point>>& series, const std::vector<Point>& total);

/// The mean over time of a step function, which is 0 before its first step and holds its last. Nothing where no time is
/// between `from` and `until`.
std::optional<double> time_average(const std::vector<Point>& steps, Instant from, Instant until);

/// The mean of the sum of what all handles say. It begins when the last of them has given its first report, so that
/// early sums, which lack some, do not lower it. Nothing where nobody reported.
/// @param handles  each in the order of time; one without reports does not count
/// @param from     not before this
/// @param until    the last values hold so long
std::optional<double> merged_average(const std::vector<std::vector<Point>>& handles, Instant from, Instant until);

/// Whole gangs only; min and max come after that, so they may cut one; of the two, min wins.
ReplicaCount round_to_gangs(double raw, std::int64_t gang_size, std::optional<ReplicaCount> min,
                            std::optional<ReplicaCount> max);

}  // namespace capstan::decide::scale::ray_serve
