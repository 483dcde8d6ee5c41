#pragma once

#include <string>
#include <vector>

#include "experiment/compare.h"

namespace capstan::experiment {

/// Share of the paid GPU time on GPUs without a pod from which a note says so, millionths.
inline constexpr std::int64_t kNotedUnallocatedPpm = 500'000;

/// Returns sentences about the scenario without which the table may mislead, most important first: a start of engines
/// that is only assumed, and nodes that are too large for the replicas.
std::vector<std::string> notes_on(const Comparison& c);

}  // namespace capstan::experiment
