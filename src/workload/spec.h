#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/error.h"
#include "base/time.h"
#include "workload/closed_loop.h"
#include "workload/lengths.h"
#include "workload/source.h"

namespace capstan::workload {

/// A file of recorded requests: Azure LLM CSV, Mooncake JSONL, BurstGPT CSV or ServeGen CSV; plain, gzip or zstd. The
/// content determines the format, not the file name.
struct TraceSpec {
  std::string path;
};

/// Aggregate statistics of a trace: counts per minute and a joint table of lengths.
struct ProfileSpec {
  std::string name;  ///< a bundled profile ("azure-hour"), the path of a file of scripts/make-profile, or its text
};

/// Requests (or sessions) per second over time. Every curve consists of steps of constant rate; a ramp has kRampSteps
/// and a diurnal curve kDiurnalSteps per cycle (arrivals.h).
struct RateCurve {
  enum class Kind : std::uint8_t { constant, diurnal, ramp, spike, on_off, piecewise };
  Kind kind = Kind::constant;
  double rate = 1;                 ///< constant rate, or the curve's lower or first rate; requests/s, 0 or 1e-6..1e7
  double peak = 1;                 ///< diurnal: highest rate; ramp: last rate; spike, on_off: rate during spike or "on"
  Duration period{};               ///< diurnal (>= 1 min), on_off (>= 1 s): one cycle
  Duration start{};                ///< ramp, spike: begin; diurnal: time of the peak within the cycle
  Duration length{};               ///< ramp, spike: length; on_off: length of the "on" part of each cycle
  Duration step{};                 ///< piecewise: length of each step, >= 1 ms
  std::vector<double> step_rates;  ///< piecewise: rate of each step; the workload ends after the last step
};

/// Distribution of the gaps between arrivals. Gaps have the mean 1. A gap lasts until the integral of the rate curve
/// has grown by the length of the gap.
struct ArrivalSpec {
  enum class Process : std::uint8_t { poisson, gamma, weibull };
  Process process = Process::poisson;
  double shape = 1;  ///< gamma, weibull: < 1 is bursty, 1 is Poisson, > 1 is more regular; 0.1..100
};

/// Conversations. The prompt of each turn consists of all earlier prompts and answers and of new tokens. With sessions,
/// `RateCurve` counts sessions and `LengthsSpec` describes one turn: the new tokens and the answer.
struct SessionSpec {
  double turns_mean = 4;                              ///< mean of the geometric number of turns; 1..1000
  Duration turn_gap_mean = std::chrono::seconds(60);  ///< mean of the exponential time between arrivals of two turns
  std::int32_t system_tokens = 0;                     ///< length of the prefix that all sessions share
  std::int32_t max_context = 32768;                   ///< longest prompt; a session ends before it would be exceeded
};

/// Requests generated from distributions.
struct GeneratorSpec {
  RateCurve rate;
  ArrivalSpec arrivals;
  LengthsSpec lengths;
  std::string lengths_profile;  ///< name or path of the profile whose table becomes `lengths.joint`; empty: none
  std::optional<SessionSpec> sessions;
};

/// All settings of a load.
struct WorkloadSpec {
  std::variant<TraceSpec, ProfileSpec, GeneratorSpec, ClosedLoopSpec> from = ProfileSpec{"azure-hour"};

  /// End of the load: only earlier arrivals count. Required if a generator's curve does not end by itself.
  std::optional<Duration> duration;

  /// Time at which a trace or a profile begins: all its arrivals are later by this time. A generator and a closed loop
  /// ignore it.
  Duration start{};

  /// Factor by which the load is multiplied, 0.000001 .. 100000. A trace is superposed: whole copies, each shifted by
  /// its own uniform draw from [-scale_jitter, +scale_jitter], and one thinned copy for the fraction; the first copy
  /// keeps its times. For a profile the counts are multiplied, for a generator the rates, for a closed loop the
  /// concurrency; `scale_jitter` is then not used.
  double scale = 1;
  Duration scale_jitter = std::chrono::seconds(30);  ///< largest shift of a copy, 0..1 h
};

inline bool is_closed_loop(const WorkloadSpec& spec) { return std::holds_alternative<ClosedLoopSpec>(spec.from); }

/// Opens the stream of requests: reads the header and checks the settings. Equal spec and seed give equal requests.
/// @return an input error for a bad file; an infeasible error for invalid settings and for a closed loop, which has no
///         arrivals of its own (use `open_closed_loop`)
Result<std::unique_ptr<Source>> open(const WorkloadSpec& spec, std::uint64_t seed);

/// Opens the closed loop of `spec`; an infeasible error if `spec` is not a closed loop.
Result<ClosedLoop> open_closed_loop(const WorkloadSpec& spec, std::uint64_t seed);

}  // namespace capstan::workload
