#pragma once

#include <string>
#include <vector>

#include "experiment/compare.h"

namespace capstan::experiment {

/// Share of the paid GPU time, in millionths. If GPUs without a pod take at least this share, a note says so.
inline constexpr std::int64_t kNotedUnallocatedPpm = 500'000;

/// Share of the paid GPU time, in millionths. If nodes without a pod take at least this share, a note says so.
inline constexpr std::int64_t kNotedEmptyNodesPpm = 50'000;

/// Preemptions per request, in millionths. If the engines of a policy that misses the SLO preempted at least this many,
/// a note says so.
inline constexpr std::int64_t kNotedKvPreemptionsPpm = 50'000;

/// Returns sentences about the scenario without which the table may mislead, the most important first: the trace may
/// not be in seconds, the start time of engines is only assumed, the nodes are too large for the replicas, nodes
/// without a pod take a part of the paid GPU time, or the engines are short of KV memory.
std::vector<std::string> notes_on(const Comparison& c);

}  // namespace capstan::experiment
