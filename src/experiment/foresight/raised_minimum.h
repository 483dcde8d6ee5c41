#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "experiment/foresight/constant_fleet.h"
#include "experiment/run/batch.h"
#include "experiment/run/seed_check.h"

// Tests whether a higher `min` of replicas gives a policy a better result.
namespace capstan::experiment {

/// The outcome for one policy.
struct RaisedMinimum {
  std::string policy;
  ReplicaCounts min;    ///< minimum by service of the catalog: the value that helps, or the highest that was tried
  std::string setting;  ///< `min` as a scenario writes it: "service.replicas.min: 3"
  int runs = 0;         ///< runs of this search, those with other seeds included
  std::optional<RunResult> result;  ///< result of the policy with this minimum; none: no minimum that was tried helps
  /// Arguments of `--set` that repeat the result, with the replicas and nodes that exist from the start:
  /// "service.replicas.min=3". Empty if no minimum helps, or if such arguments cannot state the fleet.
  std::vector<std::string> sets{};
  std::optional<SeedCheck> seeds{};  ///< the same with other seeds; none: not tried

  /// Returns true if the policy holds the SLO with this minimum and every seed that was tried.
  bool is_steady() const { return seeds && seeds->holds_with_all(); }
};

/// A saving below this share of the policy's cost is no reason to recommend a setting.
inline constexpr std::int64_t kMinimumSavingPercent = 1;
/// Largest number of values that are tried for a policy.
inline constexpr int kMaxMinimumRuns = 6;
/// Largest number of policies for which values are tried.
inline constexpr std::size_t kMaxRaisedPolicies = 3;

/// Tries higher minima for the first policy. Then tries them for policies that cost less, the cheapest first, because
/// one of them may need only a few more replicas.
///
/// The values lie between the stated minimum and the size of the constant fleet. If that fleet misses the SLO with a
/// seed and `ConstantFleet::steady` is known, its size is the highest value. The replicas of the raised minimum, and
/// nodes for them, exist from the start, as if the minimum had applied for a while.
///
/// If the policy holds the SLO as stated, a value helps if the policy still holds it and costs less. If the policy
/// misses the SLO, or holds it with some seeds only, a value helps if the policy then holds it.
///
/// The outcome is simulated with other seeds. If it misses the SLO with one of them, the highest value that was tried
/// replaces it, provided that this value holds the SLO with all seeds.
/// @param results  results of the policies, ranked
/// @param checks   policies that hold the SLO, with other seeds
/// @return the outcome that costs least and holds the SLO; if no value helps, that of the first policy; nothing if
///         there is nothing to try: the number of replicas is fixed, or no constant fleet holds the SLO
Result<std::optional<RaisedMinimum>> try_higher_minimum(const scenario::Scenario& scenario,
                                                        std::span<const RunResult> results,
                                                        std::span<const SeedCheck> checks,
                                                        const std::optional<ConstantFleet>& constant, ExtraRuns& extra);

}  // namespace capstan::experiment
