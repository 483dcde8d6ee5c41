#pragma once

#include "lint/file.h"
#include "manifest/engine_command.h"

namespace capstan::lint {

using manifest::CommandWord;
using manifest::EngineCommand;
using manifest::EngineKind;

/// What a container's manifest says of how it starts.
manifest::ContainerStart start_of(const Value& container);

/// Starts an inference engine that loads a model before it answers: by its command, or by its image.
bool runs_engine(const Value& container);

/// Downloads or copies a model: by its command, or by its image.
bool brings_a_model(const Value& container);
/// Is this command a download from a store of objects or models?
bool is_download(const std::vector<CommandWord>& command);

/// Where a word of its commands stands.
Span span_of(const File& file, const Value& container, const CommandWord& word);

}  // namespace capstan::lint
