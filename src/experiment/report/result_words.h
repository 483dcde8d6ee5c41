#pragma once

#include <cstdint>
#include <string>

#include "experiment/run/result.h"

namespace capstan::experiment {

/// Returns the paid GPU-minutes without work for any request: idle, asleep, held or unallocated.
std::int64_t idle_gpu_minutes(const RunResult& result);

/// Returns the invariants that the policy broke: "broken invariants: 12 gangs partly placed, 340 requests cut by
/// decisions". Empty if it broke none.
std::string broken_words(const RunResult& result);

}  // namespace capstan::experiment
