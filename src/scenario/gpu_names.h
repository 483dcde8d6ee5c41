#pragma once

#include <string>
#include <string_view>

#include "engine/table.h"
#include "model/catalog.h"

namespace capstan::scenario {

/// Returns the name by which the scenario knows a kind of GPU: the name in the engine table, else in
/// data/instances.csv, else in the catalog, else the text itself. Case does not matter.
/// @param text  a name of the kind, such as H100, T4 or the product of a node label
std::string gpu_name(const engine::EngineTable& engines, const model::Catalog& catalog, std::string_view text);

/// Returns true if the engine table or data/instances.csv has the name that `gpu_name` returned.
bool is_known_gpu(const engine::EngineTable& engines, std::string_view name);

}  // namespace capstan::scenario
