#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lint/file.h"
#include "manifest/engine_command.h"

namespace capstan::lint {

using manifest::CommandWord;
using manifest::EngineCommand;
using manifest::EngineKind;

/// Returns the image, command, arguments and environment of a container.
manifest::ContainerStart start_of(const Value& container);

/// Returns true if the command or the image starts an inference engine, which loads a model before it answers.
bool runs_engine(const Value& container);

/// Returns true if the container surely runs an engine of language models. Triton without such an engine may serve a
/// small model.
bool runs_language_engine(const Value& container);

/// Returns the size that a model's name states, in billions of parameters: 0.6 for "Qwen/Qwen3-0.6B", 0.135 for
/// "SmolLM-135M". For experts such as "8x7B" it returns a lower bound of the total.
std::optional<double> billions_of(std::string_view model);
/// Returns true if the name of the engine's model states a small size. A step of a small model takes milliseconds.
bool serves_small_model(const EngineCommand& engine);

/// Returns the name of the model that a container loads, from its command line or its environment; empty if neither
/// states a name.
std::string model_name(const Value& container);
/// Returns true unless the name of the model is a repository, such as "Qwen/Qwen2.5-7B".
bool names_local_model(const Value& container);

/// Returns the size of the weights in GB for each billion parameters: 2 for 16 bits, 0.6 for 4 bits with their scales.
double gb_per_billion(const Value& container);

/// Returns the size of the weights that a container loads, in GB: 14 for the model "Qwen2.5-7B", 4.2 for
/// "Qwen2.5-7B-Instruct-AWQ", 1 for "DialoGPT-small". Returns none if the name of the model shows no size.
std::optional<double> weights_gb(const Value& container);

/// Returns true if the container downloads or copies a model, according to its command, its image or its name.
bool brings_a_model(const Value& container);
/// Returns true if the command downloads from an object store or a model store.
bool is_download(const std::vector<CommandWord>& command);

/// Returns the place of a command-line word in the file of its container.
Span span_of(const File& file, const Value& container, const CommandWord& word);

}  // namespace capstan::lint
