#pragma once

#include <optional>
#include <span>
#include <string>

#include "base/error.h"
#include "experiment/foresight/constant_fleet.h"
#include "experiment/run/batch.h"

// Tries whether a policy does better with a higher `min` of replicas.
namespace capstan::experiment {

/// The outcome for one policy.
struct RaisedMinimum {
  std::string policy;
  ReplicaCounts min;    ///< by service of the catalog: the value that helps; else the highest that was tried
  std::string setting;  ///< the same as it is written in a scenario: "replicas.min: 3"
  int runs = 0;
  std::optional<RunResult> result;  ///< of the policy with this minimum; nothing where no value that was tried helps
};

/// A saving below this share of the policy's cost is no reason to recommend a setting.
inline constexpr std::int64_t kMinimumSavingPercent = 1;
/// Most values that are tried.
inline constexpr int kMinimumRunsMost = 6;

/// Tries values between the minimum that is stated and the size of the constant fleet. A value helps a policy that
/// holds the SLO if it still does and costs less, and one that misses the SLO if it then holds it. The replicas of the
/// raised minimum, and nodes for them, stand from the start, as they would where the minimum has been in force for a
/// while.
/// @param results  those of the policies, ranked: the first is the one that is tried
/// @return nothing where there is nothing to try: a fixed number of replicas, or no constant fleet holds the SLO
Result<std::optional<RaisedMinimum>> try_higher_minimum(const scenario::Scenario& scenario,
                                                        std::span<const RunResult> results,
                                                        const std::optional<ConstantFleet>& constant, ExtraRuns& extra);

}  // namespace capstan::experiment
