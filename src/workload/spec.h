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

/// A file of recorded requests: Azure LLM CSV, Mooncake JSONL, BurstGPT CSV or ServeGen CSV, plain, gzip or zstd. The
/// format is read from the content, never from the name.
struct TraceSpec {
  std::string path;
};

/// Aggregate statistics of a trace: counts per minute and a joint table of lengths.
struct ProfileSpec {
  std::string name;  ///< a bundled profile ("azure-hour"), or the path of a file that scripts/make-profile wrote
};

/// Requests (or sessions) per second over time. Every curve is made of steps of constant rate; a ramp and a diurnal
/// curve are cut into kRampSteps and kDiurnalSteps (arrivals.h).
struct RateCurve {
  enum class Kind : std::uint8_t { constant, diurnal, ramp, spike, on_off, piecewise };
  Kind kind = Kind::constant;
  double rate = 1;                 ///< constant, and the curve's lower or first rate; requests/s, 0 or 1e-6..1e7
  double peak = 1;                 ///< diurnal: the highest; ramp: the last; spike: inside it; on_off: while on
  Duration period{};               ///< diurnal (>= 1 min), on_off (>= 1 s): one cycle
  Duration start{};                ///< ramp, spike: when it begins; diurnal: when the peak is, in the cycle
  Duration length{};               ///< ramp, spike: how long it lasts; on_off: how long it is on in each cycle
  Duration step{};                 ///< piecewise: length of each step, >= 1 ms
  std::vector<double> step_rates;  ///< piecewise: the rate of each step; the workload ends after the last
};

/// How irregular arrivals are around the curve: gaps of mean 1 in the curve's own time (its integral).
struct ArrivalSpec {
  enum class Process : std::uint8_t { poisson, gamma, weibull };
  Process process = Process::poisson;
  double shape = 1;  ///< gamma, weibull: below 1 clumps, 1 is Poisson, above 1 is more regular; 0.1..100
};

/// Conversations: each turn's prompt is all that was said before, and something new. Then `RateCurve` counts sessions,
/// LengthsSpec is of one turn (the new tokens, the answer).
struct SessionSpec {
  double turns_mean = 4;                              ///< geometric, at least 1; 1..1000
  Duration turn_gap_mean = std::chrono::seconds(60);  ///< exponential; from one turn's arrival to the next's
  std::int32_t system_tokens = 0;                     ///< a prefix that all sessions share
  std::int32_t max_context = 32768;                   ///< a session ends before its prompt would be longer
};

/// Requests made from distributions.
struct GeneratorSpec {
  RateCurve rate;
  ArrivalSpec arrivals;
  LengthsSpec lengths;
  std::string lengths_profile;  ///< where not empty: `lengths.joint` is this profile's table (name or path)
  std::optional<SessionSpec> sessions;
};

/// Everything a scenario can say about its load.
struct WorkloadSpec {
  std::variant<TraceSpec, ProfileSpec, GeneratorSpec, ClosedLoopSpec> from = ProfileSpec{"azure-hour"};

  /// Only arrivals before this; needed where a generator's curve does not end by itself.
  std::optional<Duration> duration;

  /// Times the load. A trace is superposed: whole copies, each shifted by its own uniform draw from
  /// [-scale_jitter, +scale_jitter], and one thinned copy for the fraction; the first copy keeps its times. A profile's
  /// counts and a generator's rates are multiplied, and `scale_jitter` means nothing. A closed loop multiplies its
  /// concurrency. 0.000001 .. 100000.
  double scale = 1;
  Duration scale_jitter = std::chrono::seconds(30);  ///< 0..1 h
};

inline bool is_closed_loop(const WorkloadSpec& spec) { return std::holds_alternative<ClosedLoopSpec>(spec.from); }

/// The stream of requests, its header read and its settings checked. Same spec and seed, same bytes.
/// @return an input error for a bad file, an infeasible one for settings that cannot be; also for a closed loop, which
///         has no arrivals of its own (use `open_closed_loop`)
Result<std::unique_ptr<Source>> open(const WorkloadSpec& spec, std::uint64_t seed);

/// The closed loop that `spec` names; must be one.
Result<ClosedLoop> open_closed_loop(const WorkloadSpec& spec, std::uint64_t seed);

}  // namespace capstan::workload
