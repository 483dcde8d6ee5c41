#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "experiment/compare.h"

// What `--frontier` adds to a comparison: the policies that can be beaten only for more money, how often each changed
// the number of replicas, where two of them first differ, and what tuning the settings of a policy brings.
namespace capstan::experiment {

enum class Cost : std::uint8_t { gpu_hours, usd };

/// Returns the policies of which no other meets at least as much for less, or more for as much; the cheapest first.
std::vector<const RunResult*> frontier(std::span<const RunResult> results, Cost cost);

/// The first moment at which two policies asked for different numbers of replicas, and the last change of each.
struct Divergence {
  Instant at;
  ScaleStep a, b;
};
/// Returns nothing where two policies always asked for the same.
std::optional<Divergence> first_divergence(const RunResult& a, const RunResult& b);

/// Returns a count as a rate by the hour, in 1/1000, over the simulated time.
std::int64_t per_hour_milli(std::int64_t count, Duration simulated);

/// Returns the best of a policy's swept settings, its stated ones included: the one that ranks first. Null where
/// nothing was swept.
const RunResult* tuned(std::span<const RunResult> results, const std::string& policy, const model::Slo& slo);

/// Returns true if the table shows the policy. Of a sweep it shows the stated settings and the best ones.
bool shown(const Comparison& comparison, const RunResult& result);

/// Writes all of that for people.
std::string frontier_words(const Comparison& comparison, std::size_t width);

}  // namespace capstan::experiment
