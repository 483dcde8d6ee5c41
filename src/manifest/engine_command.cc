#include "manifest/engine_command.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "manifest/shell.h"

namespace capstan::manifest {
namespace {

using Words = std::vector<CommandWord>;

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

bool is_shell(std::string_view word) {
  const std::string_view name = base_name(word);
  return name == "sh" || name == "bash" || name == "ash" || name == "dash" || name == "zsh";
}

/// Resolves `$(NAME)`, `$NAME` or `${NAME}` if the manifest has the value of the variable.
std::string resolved(std::string text, const ContainerStart& container) {
  const std::size_t dollar = text.find('$');
  if (dollar == text.npos || dollar + 1 >= text.size()) return text;
  const char open = text[dollar + 1];
  const char close = open == '(' ? ')' : open == '{' ? '}' : '\0';
  const std::size_t begin = dollar + (close != '\0' ? 2 : 1);
  std::size_t end = begin;
  while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_')) ++end;
  if (end == begin || (close != '\0' && (end >= text.size() || text[end] != close))) return text;
  for (const ContainerStart::Variable& variable : container.environment) {
    if (variable.name != std::string_view(text).substr(begin, end - begin) || !variable.value) continue;
    return text.substr(0, dollar) + std::string(*variable.value) + text.substr(end + (close != '\0' ? 1 : 0));
  }
  return text;
}

void read_script(std::string_view script, std::size_t source, const ContainerStart& container,
                 std::vector<Words>& out) {
  for (const std::vector<ShellWord>& command : shell_commands(script)) {
    Words words;
    for (const ShellWord& word : command) {
      words.push_back({resolved(word.text, container), source, word.offset, word.size});
    }
    out.push_back(std::move(words));
  }
}

/// Returns the engine that a command line starts, and the index of the first word after the command itself.
std::optional<std::pair<EngineKind, std::size_t>> engine_start(const Words& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i].text;
    const std::string_view name = base_name(word);
    const std::string_view next = i + 1 < words.size() ? std::string_view(words[i + 1].text) : std::string_view();
    if (name == "vllm" && next == "serve") return std::pair(EngineKind::vllm, i + 2);
    if (word.starts_with("vllm.entrypoints.")) return std::pair(EngineKind::vllm, i + 1);
    if (word.starts_with("sglang.launch_server")) return std::pair(EngineKind::sglang, i + 1);
    if (name == "sglang" && next == "serve") return std::pair(EngineKind::sglang, i + 2);
    if (name == "trtllm-serve") return std::pair(EngineKind::trtllm, i + 1);
    if (name == "text-generation-launcher") return std::pair(EngineKind::tgi, i + 1);
  }
  return std::nullopt;
}

/// Returns true if a word begins with this flag. '_' and '-' are equal, because engines accept `--tensor_parallel_size`
/// for `--tensor-parallel-size`.
bool is_flag(std::string_view word, std::string_view name) {
  const auto same = [](char a, char b) { return a == b || ((a == '_' || a == '-') && (b == '_' || b == '-')); };
  return word.size() >= name.size() && std::ranges::equal(word.substr(0, name.size()), name, same);
}

/// Returns the engine that is the entry point of an image, so that `args` are its flags.
std::optional<EngineKind> engine_of_image(std::string_view image) {
  if (image.find("vllm-openai") != image.npos || image.find("vllm/vllm") != image.npos) return EngineKind::vllm;
  if (image.find("text-generation-inference") != image.npos) return EngineKind::tgi;
  return std::nullopt;
}

}  // namespace

std::vector<std::vector<CommandWord>> commands_of(const ContainerStart& container) {
  std::vector<Words> out;
  Words plain;
  bool shell = false;
  std::size_t source = 0;
  for (const auto* arguments : {&container.command, &container.args}) {
    for (const std::string_view argument : *arguments) {
      const std::size_t at = source++;
      const bool script = shell && argument.find_first_of(" \n") != argument.npos;
      if (script) {
        read_script(argument, at, container, out);
        continue;
      }
      if (plain.empty() && is_shell(argument)) shell = true;
      plain.push_back({.text = resolved(std::string(argument), container), .source = at});
    }
  }
  if (!plain.empty() && !(shell && !out.empty())) out.push_back(std::move(plain));
  return out;
}

std::optional<CommandWord> EngineCommand::flag(std::initializer_list<std::string_view> names) const {
  for (std::size_t i = words.size(); i-- > 0;) {
    const std::string_view word = words[i].text;
    for (const std::string_view name : names) {
      // The value is the next word, or follows '=' or a blank in the same word.
      if (!is_flag(word, name)) continue;
      if (word.size() == name.size()) return words[std::min(i + 1, words.size() - 1)];
      if (word[name.size()] != '=' && word[name.size()] != ' ') continue;
      CommandWord value = words[i];
      value.text = word.substr(name.size() + 1);
      return value;
    }
  }
  return std::nullopt;
}

std::optional<std::int64_t> EngineCommand::number(std::initializer_list<std::string_view> names) const {
  const std::optional<CommandWord> word = flag(names);
  std::int64_t value = 0;
  if (!word) return std::nullopt;
  const auto [end, error] = std::from_chars(word->text.data(), word->text.data() + word->text.size(), value);
  return error == std::errc() && end == word->text.data() + word->text.size() ? std::optional(value) : std::nullopt;
}

namespace {

/// Adds the flags that TGI reads from its environment if they are not on the command line.
void add_environment(const ContainerStart& container, EngineCommand& engine) {
  if (engine.kind != EngineKind::tgi) return;
  constexpr std::pair<std::string_view, std::string_view> kFlags[] = {{"NUM_SHARD", "--num-shard"},
                                                                      {"MAX_BATCH_SIZE", "--max-batch-size"}};
  for (const auto& [name, flag] : kFlags) {
    if (engine.flag({flag})) continue;
    std::size_t source = container.command.size() + container.args.size();
    for (const ContainerStart::Variable& variable : container.environment) {
      if (variable.name == name && variable.value) {
        engine.words.push_back({.text = std::string(flag), .source = source});
        engine.words.push_back({.text = std::string(*variable.value), .source = source});
      }
      ++source;
    }
  }
}

}  // namespace

std::optional<EngineCommand> engine_of(const ContainerStart& container) {
  for (Words& command : commands_of(container)) {
    const auto start = engine_start(command);
    if (!start) continue;
    EngineCommand engine;
    engine.kind = start->first;
    engine.words.assign(std::make_move_iterator(command.begin() + static_cast<std::ptrdiff_t>(start->second)),
                        std::make_move_iterator(command.end()));
    add_environment(container, engine);
    return engine;
  }
  const std::optional<EngineKind> kind = engine_of_image(container.image);
  if (!kind || !container.command.empty()) return std::nullopt;
  EngineCommand engine;
  engine.kind = *kind;
  for (std::size_t i = 0; i < container.args.size(); ++i) {
    engine.words.push_back({.text = resolved(std::string(container.args[i]), container), .source = i});
  }
  add_environment(container, engine);
  return engine;
}

std::optional<EngineCommand> dynamo_worker_of(const ContainerStart& container) {
  constexpr std::pair<std::string_view, EngineKind> kWorkers[] = {{"dynamo.vllm", EngineKind::vllm},
                                                                  {"dynamo.sglang", EngineKind::sglang}};
  for (const Words& command : commands_of(container)) {
    for (const auto& [module, kind] : kWorkers) {
      const auto found = std::ranges::find(command, module, &CommandWord::text);
      if (found != command.end()) return EngineCommand{kind, {std::next(found), command.end()}};
    }
  }
  return std::nullopt;
}

std::size_t engines_in(const ContainerStart& container) {
  const std::vector<Words> commands = commands_of(container);
  return static_cast<std::size_t>(
      std::ranges::count_if(commands, [](const Words& words) { return engine_start(words).has_value(); }));
}

bool joins_other_pods(const ContainerStart& container) {
  const std::vector<Words> commands = commands_of(container);
  return std::ranges::any_of(commands, [](const Words& words) {
    for (std::size_t i = 0; i < words.size(); ++i) {
      const std::string_view word = words[i].text;
      if (base_name(word) == "ray" && i + 1 < words.size() && words[i + 1].text == "start") return true;
      for (const std::string_view part : {"multi-node-serving", "ray_init", "mpirun", "torchrun", "srun"}) {
        if (word.find(part) != word.npos) return true;
      }
    }
    return false;
  });
}

namespace {

/// Returns the factor by which a flag multiplies the number of GPUs: 1 without the flag, nothing if its value cannot be
/// read.
std::optional<std::int64_t> factor_of(const EngineCommand& engine, std::initializer_list<std::string_view> names) {
  if (!engine.flag(names)) return 1;
  const std::optional<std::int64_t> factor = engine.number(names);
  return factor && *factor >= 1 && *factor <= 1024 ? factor : std::nullopt;
}

std::optional<std::int64_t> data_parallel_of(const EngineCommand& engine) {
  if (engine.flag({"--data-parallel-size-local", "-dpl"})) {
    return factor_of(engine, {"--data-parallel-size-local", "-dpl"});
  }
  if (engine.kind != EngineKind::sglang) return factor_of(engine, {"--data-parallel-size", "-dp"});
  // SGLang's data-parallel attention divides the GPUs of --tp-size, so it needs no additional GPUs.
  if (engine.flag({"--enable-dp-attention"})) return 1;
  return factor_of(engine, {"--dp-size", "--dp", "--data-parallel-size"});
}

/// Returns true if a variable or a file of settings may give the engine flags that cannot be read here.
bool has_unread_flags(const EngineCommand& engine) {
  for (std::size_t i = 0; i < engine.words.size(); ++i) {
    const std::string_view word = engine.words[i].text;
    // The first word may be the model, and a word after a flag may be its value.
    const bool is_value =
        i == 0 || (engine.words[i - 1].text.starts_with("-") && !engine.words[i - 1].text.contains('='));
    const bool variable = word.starts_with('$') || word.starts_with("\"$");
    const bool of_flags = word.contains("ARGS") || word.contains("FLAGS") || word.contains("OPT") ||
                          word.contains("EXTRA") || word.contains('@');
    if (variable && (!is_value || of_flags)) return true;
    if (word.contains("tensor") && word.starts_with('-'))
      return true;  // the word may be an abbreviated flag, or contain a flag
  }
  return engine.words.empty() || engine.flag({"--config", "--extra-llm-api-options"});
}

/// Returns the ranks that share one layer. The default of vLLM, SGLang and TensorRT-LLM is 1. TGI uses all visible
/// GPUs, so the number is not known without the flag.
std::optional<std::int64_t> tensor_parallel_of(const EngineCommand& engine) {
  const std::initializer_list<std::string_view> names = {"--tensor-parallel-size", "-tp", "--tp", "--tp-size",
                                                         "--num-shard"};
  if (engine.flag(names)) return factor_of(engine, names);
  return engine.kind == EngineKind::tgi || has_unread_flags(engine) ? std::nullopt : std::optional<std::int64_t>(1);
}

}  // namespace

std::optional<std::int64_t> wanted_gpus(const EngineCommand& engine) {
  const auto tensor = tensor_parallel_of(engine);
  const auto pipeline = factor_of(engine, {"--pipeline-parallel-size", "-pp", "--pp-size"});
  const auto context = factor_of(engine, {"--prefill-context-parallel-size", "-pcp"});
  const auto data = data_parallel_of(engine);
  if (!tensor || !pipeline || !context || !data) return std::nullopt;
  return *tensor * *pipeline * *context * *data;
}

StepLimits step_limits(const EngineCommand& engine) {
  // No GPU has memory for a larger step. The bounds also prevent overflows.
  constexpr std::int64_t kMaxSequences = 1 << 16, kMaxTokens = 1 << 24;
  const auto limit = [&](std::initializer_list<std::string_view> names, std::int64_t max) {
    const std::int64_t stated = engine.number(names).value_or(0);
    return stated >= 1 && stated <= max ? stated : 0;
  };
  if (engine.kind == EngineKind::vllm && data_parallel_of(engine) != 1) return {};
  switch (engine.kind) {
    case EngineKind::vllm:
      return {limit({"--max-num-seqs"}, kMaxSequences), limit({"--max-num-batched-tokens"}, kMaxTokens)};
    case EngineKind::sglang:
      return {limit({"--max-running-requests"}, kMaxSequences), 0};
    case EngineKind::trtllm:
      return {limit({"--max-batch-size"}, kMaxSequences), limit({"--max-num-tokens"}, kMaxTokens)};
    case EngineKind::tgi:
      return {limit({"--max-batch-size"}, kMaxSequences), 0};
  }
  return {};
}

}  // namespace capstan::manifest
