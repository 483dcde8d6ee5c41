#pragma once

#include <string>
#include <string_view>

#include "engine/table.h"

namespace capstan::plan {

/// Returns which GPU kinds have step times, and which of them is nearest in memory to a kind that has none: "the engine
/// table has A100 (80 GiB), L40S (48 GiB); the nearest to the 16 GiB of t4 is L40S". The last part is left out if
/// data/instances.csv does not have the memory of the kind.
std::string known_gpu_kinds(const engine::EngineTable& table, std::string_view unknown);

}  // namespace capstan::plan
