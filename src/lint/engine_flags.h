#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lint/file.h"

namespace capstan::lint {

/// A word of a container's command line, wherever it is written: an argument, or a part of a shell script.
struct CommandWord {
  std::string text;
  Span span;
};

/// The commands of a container, its `command` and `args` together; a script behind `sh -c` gives several. `$(NAME)`,
/// `$NAME` and `${NAME}` are looked up in its environment.
std::vector<std::vector<CommandWord>> commands_of(const File& file, const Value& container);

enum class EngineKind : std::uint8_t { vllm, sglang, trtllm, tgi };

/// How a container starts an inference engine.
struct EngineCommand {
  EngineKind kind = EngineKind::vllm;
  std::vector<CommandWord> words;  ///< behind what starts it

  /// The value of a flag, `--name value` or `--name=value`, under any of its names; none where it is not given.
  std::optional<CommandWord> flag(std::initializer_list<std::string_view> names) const;
  std::optional<std::int64_t> number(std::initializer_list<std::string_view> names) const;
};

/// The engine that a container starts; none where it starts none that we know, or does so by something else.
std::optional<EngineCommand> engine_of(const File& file, const Value& container);

/// How many engines a container's commands start: the branches of a script, or several beside each other.
std::size_t engines_in(const File& file, const Value& container);

/// Its script puts it together with other pods first: Ray, MPI.
bool joins_other_pods(const File& file, const Value& container);

/// Tensor times pipeline times local data parallelism: the GPUs that the engine wants. None where it does not say, or
/// says it by something that is known only when it runs.
std::optional<std::int64_t> wanted_gpus(const EngineCommand& engine);

}  // namespace capstan::lint
