#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "experiment/compare.h"

// What a comparison says beyond its ranking: who can be beaten only by paying more, how restless each policy was, where
// two of them first parted, and what tuning a policy's settings brought.
namespace capstan::experiment {

enum class Cost : std::uint8_t { gpu_hours, usd };

/// Those of which no other meets at least as much for less, or more for as much: cheapest first.
std::vector<const RunResult*> frontier(std::span<const RunResult> results, Cost cost);

/// The first moment at which two policies asked for different counts, and what each said when it last changed its mind.
struct Parting {
  Instant at;
  ScaleStep a, b;
};
std::optional<Parting> first_parting(const RunResult& a, const RunResult& b);

/// In thousandths: so many in the simulated time, by the hour.
std::int64_t per_hour_milli(std::int64_t count, Duration simulated);

/// The best of a policy's swept settings, its stated ones included: the cheapest that holds the SLO, or where none does
/// the one that meets most. Null where nothing was swept.
const RunResult* tuned(std::span<const RunResult> results, const std::string& policy, const model::Slo& slo);

/// Does the table show it? Of a sweep only the stated settings and the best ones.
bool shown(const Comparison& comparison, const RunResult& result);

/// All of that for people.
std::string frontier_words(const Comparison& comparison, std::size_t width);

}  // namespace capstan::experiment
