#pragma once

#include <cstddef>
#include <set>
#include <vector>

#include "experiment/run/result.h"

namespace capstan::experiment {

/// Most bytes of arithmetic in one report. A day with eight policies then stays below 3 MB.
inline constexpr std::size_t kArithmeticBytesMost = 1'000'000;

/// Positions in `RunResult::scale_steps`.
using StepPositions = std::set<std::size_t>;

/// Returns, for each result, the steps whose arithmetic a report shows: all of them, or if they have too many bytes, an
/// equal number of each result, the largest changes of the wanted replicas first, and of equal changes the earliest.
std::vector<StepPositions> steps_with_arithmetic(const std::vector<RunResult>& results,
                                                 std::size_t bytes_most = kArithmeticBytesMost);

}  // namespace capstan::experiment
