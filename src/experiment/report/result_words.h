#pragma once

#include <cstdint>
#include <string>

#include "experiment/run/result.h"

namespace capstan::experiment {

/// Returns the paid minutes of GPUs that did no work of any request: idle, asleep, held or unallocated.
std::int64_t idle_gpu_minutes(const RunResult& result);

/// Returns the invariants that the policy broke, "broke: 12 gangs partly placed, 340 requests cut by decisions", or
/// nothing.
std::string broken_words(const RunResult& result);

}  // namespace capstan::experiment
