#pragma once

#include <optional>
#include <span>
#include <string>

#include "base/error.h"
#include "experiment/foresight/constant_fleet.h"
#include "experiment/run/batch.h"

// Tries whether a policy has a better result with a higher `min` of replicas.
namespace capstan::experiment {

/// The outcome for one policy.
struct RaisedMinimum {
  std::string policy;
  ReplicaCounts min;    ///< minimum by service of the catalog: the value that helps, or the highest that was tried
  std::string setting;  ///< `min` as a scenario writes it: "replicas.min: 3"
  int runs = 0;
  std::optional<RunResult> result;  ///< result of the policy with this minimum; no value if none that was tried helps
};

/// A saving below this share of the policy's cost is no reason to recommend a setting.
inline constexpr std::int64_t kMinimumSavingPercent = 1;
/// Largest number of values that are tried.
inline constexpr int kMaxMinimumRuns = 6;

/// Tries values between the stated minimum and the size of the constant fleet. A value helps a policy that holds the
/// SLO if the policy still holds it and costs less. It helps a policy that misses the SLO if the policy then holds it.
/// The replicas of the raised minimum, and nodes for them, exist from the start, as if the minimum had applied for a
/// while.
/// @param results  results of the policies, ranked; the first policy is tried
/// @return nothing if there is nothing to try: the number of replicas is fixed, or no constant fleet holds the SLO
Result<std::optional<RaisedMinimum>> try_higher_minimum(const scenario::Scenario& scenario,
                                                        std::span<const RunResult> results,
                                                        const std::optional<ConstantFleet>& constant, ExtraRuns& extra);

}  // namespace capstan::experiment
