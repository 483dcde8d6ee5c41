#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <vector>

#include "base/error.h"
#include "experiment/run/result.h"
#include "experiment/run/simulation.h"
#include "scenario/scenario.h"

namespace capstan::experiment {

/// Two figures with which every policy of a scenario can be compared (docs/decisions/0011): a cost below which no
/// policy that holds the SLO can go, and the cost of a policy that knows every request in advance.
struct Clairvoyant {
  /// A lower bound of the paid GPU time of every policy that meets the share of requests that the SLO asks for.
  struct LowerBound {
    GpuNanoseconds gpu_ns = 0;
    std::int64_t micro_usd = 0;      ///< cost of `gpu_ns` at the scenario's lowest price for the service's GPU kind
    GpuNanoseconds work_gpu_ns = 0;  ///< least work of all requests; can exceed `gpu_ns`, because the SLO allows misses
    /// Requests that miss the SLO even alone on a warm replica. The bound leaves them out.
    RequestCount unattainable_requests = 0;
    bool solved = true;  ///< false: the solver stopped early, so a higher bound may exist
    Duration bin{};      ///< length of the intervals into which the bound divides time
  };
  LowerBound bound;

  /// The result of a simulation that follows the replica counts of the bound's plan, each of them raised by the same
  /// share.
  struct AchievableResult {
    std::int64_t raised_ppm = 0;  ///< smallest share that was found to hold the SLO, millionths
    bool holds = false;  ///< false: no share that was tried holds the SLO, and `raised_ppm` is the highest of them
    int runs = 0;
    RunResult result;
  };
  AchievableResult achievable;

  /// Returns true if the two figures differ by more than a tenth, so that the possible saving of a policy is not known
  /// well.
  bool has_wide_gap() const;
};

/// Computes the lower bound and the achievable cost of a scenario. `layers` decides placement and nodes; only the
/// replicas are planned with foresight.
/// @param stop  ends the runs, but not the computation of the bound before them
/// @return an error if the load cannot be known in advance, or if the runs were stopped
Result<Clairvoyant> foresee(const scenario::Scenario& scenario, const scenario::PolicySpec& layers,
                            const ProgressCallback& progress = {}, const std::stop_token& stop = {});

/// Returns the paid GPU time divided by that of the achievable plan, in thousandths; 0 if the plan pays nothing.
std::int64_t over_achievable_milli(const RunResult& result, const Clairvoyant& clairvoyant);

}  // namespace capstan::experiment
