#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "experiment/compare.h"

// The additions of `--frontier` to a comparison: the policies that no cheaper one beats, the changes of replicas by
// policy, the first moment at which two policies differ, and the effect of a policy's settings.
namespace capstan::experiment {

enum class Cost : std::uint8_t { gpu_hours, usd };

/// Returns the policies that are not dominated, the cheapest first: no other policy meets at least as many requests for
/// less, or more requests for as much.
std::vector<const RunResult*> frontier(std::span<const RunResult> results, Cost cost);

/// The first moment at which two policies wanted different numbers of replicas, and the last change of each.
struct Divergence {
  Instant at;
  ScaleStep a, b;
};
/// Returns the first divergence of two runs, or nothing if both policies always wanted the same number.
std::optional<Divergence> first_divergence(const RunResult& a, const RunResult& b);

/// Returns a count per simulated hour, in thousandths.
std::int64_t per_hour_milli(std::int64_t count, Duration simulated);

/// Returns the run that ranks first among a policy's stated settings and the settings of its sweep. Null if nothing was
/// swept.
const RunResult* best_of_sweep(std::span<const RunResult> results, const std::string& policy, const model::Slo& slo);

/// Returns true if the table shows the policy. Of the settings of a sweep, the table shows only the stated settings and
/// the best settings.
bool shown(const Comparison& comparison, const RunResult& result);

/// Returns the additions of `--frontier` as text.
std::string frontier_words(const Comparison& comparison, std::size_t width);

}  // namespace capstan::experiment
