#pragma once

#include <cstddef>
#include <set>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "experiment/run/result.h"

// The decisions about pods and nodes in a report (docs/reference/result.md).
namespace capstan::experiment {

/// Most bytes of these decisions in one report. A day with eight policies then stays below 3 MB.
inline constexpr std::size_t kLowerDecisionBytesMost = 600'000;

/// Positions in `RunHistory::decisions`.
using DecisionPositions = std::set<std::size_t>;

/// Returns, for each result, the decisions that a report shows: all of them, or if they have too many bytes, an equal
/// number of each result, those about the most GPUs first, and of equal ones the earliest. Bindings come last, because
/// the map of the fleet shows them too.
std::vector<DecisionPositions> shown_decisions(const std::vector<RunResult>& results,
                                               std::size_t bytes_most = kLowerDecisionBytesMost);

/// Returns `actions`: the shown decisions of a run, in their order.
nlohmann::ordered_json lower_decisions_json(const RunHistory& history, const DecisionPositions& shown);

}  // namespace capstan::experiment
