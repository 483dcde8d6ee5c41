#pragma once

#include "base/error.h"
#include "plan/spec/spec.h"
#include "workload/spec.h"

// The requests of a service, counted before a fleet is searched.
namespace capstan::plan {

/// Largest number of requests in one simulation. If a load has more, only its first part with this many requests is
/// simulated.
inline constexpr RequestCount kMaxSimulatedRequests = 1'000'000;
/// Fewest and most requests in the short part of the load, with which many fleets are compared first. Between these
/// bounds, the short part has a twentieth of the requests.
inline constexpr RequestCount kMinCoarseRequests = 4'000;
inline constexpr RequestCount kMaxCoarseRequests = 50'000;
/// The short part of a generated load contains a whole burst and its pause if both together have at most this many
/// requests.
inline constexpr RequestCount kMaxCoarseCycleRequests = 20'000;

struct LoadFacts {
  RequestCount requests = 0;  ///< requests of the simulated load
  Duration length{};          ///< length of the simulated load
  /// True: all of the load is simulated; false: it has more than `kMaxSimulatedRequests` requests.
  bool is_whole = true;
  Duration coarse_length{};  ///< length of the short part of the load
  double prompt_tokens = 1;  ///< mean length of a prompt
  double answer_tokens = 1;  ///< mean length of an answer
  double mean_per_s = 0;     ///< requests per second over the simulated load
  double peak_per_s = 0;     ///< requests per second in the busiest window of `kPeakWindow`
  double first_per_s = 0;    ///< requests per second outside bursts, or in the first `kPeakWindow` of a recorded load
};
inline constexpr Duration kPeakWindow = std::chrono::minutes(5);

/// Returns the load as the simulator generates or reads it.
workload::WorkloadSpec workload_of(const LoadSpec& load);

/// Returns the place of the load in the spec with its path: "s.yaml:14:9: services.chat.load".
std::string load_place(const ServiceSpec& service);

/// Draws or reads the requests once, with the seed 1, and counts them.
/// @return an error of the trace, or an infeasible one for a load without requests
Result<LoadFacts> count_load(const ServiceSpec& service);

}  // namespace capstan::plan
