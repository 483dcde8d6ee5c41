#pragma once

#include <span>
#include <string>
#include <string_view>

#include "engine/table.h"

namespace capstan::scenario {

/// Returns a suggestion for a model that an engine table lacks: " (did you mean Llama-3.1-8B?)" if a known name is
/// similar, else "; the nearest by size is Llama-3.3-70B". Empty if no model is known.
/// @param name    as the user wrote it; an organisation in front, such as "meta-llama/", is ignored
/// @param models  names of the models that the table has
std::string nearest_model_words(std::string_view name, std::span<const std::string_view> models);

/// Returns this suggestion, and the advice to state a table of step times with the key `step_times`. Empty if the
/// table has the model.
std::string unknown_model_hint(const engine::EngineTable& table, std::string_view name);

}  // namespace capstan::scenario
