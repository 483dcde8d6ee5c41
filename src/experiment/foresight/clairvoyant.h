#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/error.h"
#include "experiment/run/result.h"
#include "experiment/run/simulation.h"
#include "scenario/scenario.h"

namespace capstan::experiment {

/// What could be had by somebody who knows every request beforehand: two figures that any policy of the same scenario
/// can be held against (docs/decisions/0011).
struct Clairvoyant {
  /// Paid GPU time that nobody undercuts who meets the share of requests that the SLO asks for, whatever he does.
  struct LowerBound {
    GpuNanoseconds gpu_ns = 0;
    std::int64_t micro_usd = 0;      ///< at the cheapest price of a GPU of this kind here
    GpuNanoseconds work_gpu_ns = 0;  ///< of it, the least that all requests take at the engine's best
    RequestCount hopeless = 0;       ///< requests that miss the SLO alone on a warm replica: nobody is asked for them
    bool solved = true;              ///< false: the solver gave up; it still is a bound, and could be higher
    Duration bin{};                  ///< how finely it looked at time
  };
  LowerBound bound;

  /// The bound's own plan of replicas, each count raised by the same share, as it ran in the simulator.
  struct Achievable {
    std::int64_t raised_ppm = 0;  ///< the smallest share found at which it holds the SLO
    bool holds = false;           ///< false: no share that was tried does; then this is the highest
    int runs = 0;
    RunResult result;
  };
  Achievable achievable;

  /// More than a tenth between the two: then what a policy could still save is not known well.
  bool loose() const;
};

/// Both for a scenario. Nodes are placed and bought as `layers` says; only its replicas are foreseen.
/// @return an error where the load cannot be known beforehand
Result<Clairvoyant> foresee(const scenario::Scenario& scenario, const scenario::PolicySpec& layers,
                            const ProgressCallback& progress = {});

/// Paid GPU time over that of the achievable plan, in thousandths; 0 where that is nothing.
std::int64_t over_achievable_milli(const RunResult& result, const Clairvoyant& clairvoyant);

}  // namespace capstan::experiment
