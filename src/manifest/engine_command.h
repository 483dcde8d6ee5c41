#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace capstan::manifest {

/// The parts of a container's specification that decide how it starts.
struct ContainerStart {
  struct Variable {
    std::string_view name;
    std::optional<std::string_view> value;  ///< value; none if it comes from another object
  };
  std::string_view image{};
  std::vector<std::string_view> command{};
  std::vector<std::string_view> args{};
  std::vector<Variable> environment{};
};

/// A word of a container's command line: an argument or a word of a shell script.
struct CommandWord {
  static constexpr std::size_t kWhole = SIZE_MAX;

  std::string text;
  std::size_t source = 0;  ///< index in the sequence of command, args and environment variables
  std::size_t offset = 0;  ///< offset in the text at `source`, for a word of a script
  std::size_t size = kWhole;
};

/// Returns the commands of a container, from `command` and `args` together. A script after `sh -c` gives several.
/// `$(NAME)`, `$NAME` and `${NAME}` are resolved from the environment.
std::vector<std::vector<CommandWord>> commands_of(const ContainerStart& container);

enum class EngineKind : std::uint8_t { vllm, sglang, trtllm, tgi };

/// The command line of an inference engine.
struct EngineCommand {
  EngineKind kind = EngineKind::vllm;
  std::vector<CommandWord> words;  ///< words after the command that starts the engine

  /// Returns the value of a flag, `--name value` or `--name=value`, under any of its names, or nothing without the
  /// flag. If the flag is given several times, the last value counts, as with Python's argparse.
  std::optional<CommandWord> flag(std::initializer_list<std::string_view> names) const;
  std::optional<std::int64_t> number(std::initializer_list<std::string_view> names) const;
};

/// Returns the engine that a container starts: by its command line or, without a `command`, as the entry point of its
/// image. Returns nothing if it starts no known engine.
std::optional<EngineCommand> engine_of(const ContainerStart& container);

/// Returns the engine behind a worker of NVIDIA Dynamo, which passes its flags on: `python3 -m dynamo.vllm --model m`.
/// Returns nothing for other containers. Version and probes of such an engine are Dynamo's own.
std::optional<EngineCommand> dynamo_worker_of(const ContainerStart& container);

/// Returns how many engines the commands of a container start, for example in the branches of a script.
std::size_t engines_in(const ContainerStart& container);

/// Returns true if a command joins the container to other pods, for example with Ray or MPI.
bool joins_other_pods(const ContainerStart& container);

/// Returns the number of GPUs that the engine uses: the product of tensor, pipeline, context and local data
/// parallelism, each 1 without a flag. Returns nothing if a flag is known only at run time, and for TGI without
/// --num-shard, which uses all visible GPUs.
std::optional<std::int64_t> wanted_gpus(const EngineCommand& engine);

/// Limits of one engine step. 0 means that the command line sets no limit, so the engine's default applies.
struct StepLimits {
  std::int64_t sequences = 0;
  std::int64_t tokens = 0;  ///< prompt and output tokens together
  friend bool operator==(const StepLimits&, const StepLimits&) = default;
};

/// Reads the step limits from the flags of the engine:
/// - vLLM: --max-num-seqs and --max-num-batched-tokens; no limits with several data-parallel ranks, which
///   step separately;
/// - SGLang: --max-running-requests;
/// - TensorRT-LLM: --max_batch_size and --max_num_tokens;
/// - TGI: --max-batch-size.
/// SGLang and TGI limit the tokens of a step only for prompts, so their token limit stays 0.
StepLimits step_limits(const EngineCommand& engine);

}  // namespace capstan::manifest
