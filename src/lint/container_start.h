#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "lint/file.h"
#include "manifest/engine_command.h"

namespace capstan::lint {

using manifest::CommandWord;
using manifest::EngineCommand;
using manifest::EngineKind;

/// What a container's manifest says of how it starts.
manifest::ContainerStart start_of(const Value& container);

/// Returns true if its command or its image starts an inference engine that loads a model before it answers.
bool runs_engine(const Value& container);

/// Returns the billions of parameters that a model's name states: 0.6 of "Qwen/Qwen3-0.6B", 0.135 of "SmolLM-135M".
std::optional<double> billions_of(std::string_view model);
/// Returns true if the engine serves a model whose name says that it is small: its steps take milliseconds.
bool serves_small_model(const EngineCommand& engine);

/// Returns true if its command or its image downloads or copies a model.
bool brings_a_model(const Value& container);
/// Returns true if this command downloads from a store of objects or models.
bool is_download(const std::vector<CommandWord>& command);

/// Where a word of its commands stands.
Span span_of(const File& file, const Value& container, const CommandWord& word);

}  // namespace capstan::lint
