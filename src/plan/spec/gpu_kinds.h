#pragma once

#include <string>
#include <string_view>

#include "engine/table.h"

namespace capstan::plan {

/// Returns which GPU kinds have step times, and which of them is nearest in memory to a kind that has none: "the engine
/// table has A100 (80 GiB) and L40S (48 GiB); the nearest to the 16 GiB of t4 is L40S". Without the last part if the
/// memory of the kind is not in data/instances.csv.
std::string known_gpu_kinds(const engine::EngineTable& table, std::string_view unknown);

}  // namespace capstan::plan
