#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace capstan::manifest {

/// What says how a container starts, as a manifest or the API server has it.
struct ContainerStart {
  struct Variable {
    std::string_view name;
    std::optional<std::string_view> value;  ///< none: it comes from elsewhere
  };
  std::string_view image{};
  std::vector<std::string_view> command{};
  std::vector<std::string_view> args{};
  std::vector<Variable> environment{};
};

/// A word of a container's command line, wherever it is written: an argument, or a part of a shell script.
struct CommandWord {
  static constexpr std::size_t kWhole = SIZE_MAX;

  std::string text;
  std::size_t source = 0;  ///< which of the command, the args and the variables, counted through
  std::size_t offset = 0;  ///< of a script's word, within that
  std::size_t size = kWhole;
};

/// The commands of a container, its `command` and `args` together; a script behind `sh -c` gives several. `$(NAME)`,
/// `$NAME` and `${NAME}` are looked up in its environment.
std::vector<std::vector<CommandWord>> commands_of(const ContainerStart& container);

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
std::optional<EngineCommand> engine_of(const ContainerStart& container);

/// How many engines a container's commands start: the branches of a script, or several beside each other.
std::size_t engines_in(const ContainerStart& container);

/// Its script puts it together with other pods first: Ray, MPI.
bool joins_other_pods(const ContainerStart& container);

/// Returns the GPUs that the engine wants: tensor times pipeline times local data parallelism, each 1 unless a flag
/// says more. None where a flag is known only when the engine runs, and for TGI without --num-shard, which takes all
/// GPUs it sees.
std::optional<std::int64_t> wanted_gpus(const EngineCommand& engine);

/// What one step of an engine holds at most. 0: it does not say, and its default holds.
struct StepLimits {
  std::int64_t sequences = 0;
  std::int64_t tokens = 0;  ///< of prompts and of answers together
  friend bool operator==(const StepLimits&, const StepLimits&) = default;
};

/// vLLM: --max-num-seqs, --max-num-batched-tokens; nothing of one with several data-parallel ranks, each of which has
/// its own steps. SGLang: --max-running-requests. TensorRT-LLM: --max_batch_size, --max_num_tokens. TGI:
/// --max-batch-size. What SGLang and TGI bound beside that is the prompts' part of a step alone.
StepLimits step_limits(const EngineCommand& engine);

}  // namespace capstan::manifest
