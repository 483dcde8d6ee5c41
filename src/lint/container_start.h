#pragma once

#include "lint/file.h"
#include "manifest/engine_command.h"

namespace capstan::lint {

using manifest::CommandWord;
using manifest::EngineCommand;
using manifest::EngineKind;

/// What a container's manifest says of how it starts.
manifest::ContainerStart start_of(const Value& container);

/// Where a word of its commands stands.
Span span_of(const File& file, const Value& container, const CommandWord& word);

}  // namespace capstan::lint
