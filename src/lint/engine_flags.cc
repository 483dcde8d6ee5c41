#include "lint/engine_flags.h"

#include <algorithm>
#include <charconv>
#include <deque>
#include <utility>

#include "lint/shell.h"

namespace capstan::lint {
namespace {

using Words = std::vector<CommandWord>;

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

bool is_shell(std::string_view word) {
  const std::string_view name = base_name(word);
  return name == "sh" || name == "bash" || name == "ash" || name == "dash" || name == "zsh";
}

/// `$(NAME)`, `$NAME` and `${NAME}` of a variable whose value is written in the manifest.
std::string resolved(std::string text, const Value& environment) {
  const std::size_t dollar = text.find('$');
  if (dollar == text.npos || dollar + 1 >= text.size()) return text;
  const char open = text[dollar + 1];
  const char close = open == '(' ? ')' : open == '{' ? '}' : '\0';
  const std::size_t begin = dollar + (close != '\0' ? 2 : 1);
  std::size_t end = begin;
  while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_')) ++end;
  if (end == begin || (close != '\0' && (end >= text.size() || text[end] != close))) return text;
  for (const Value& variable : environment.children()) {
    if (!variable["name"].is(std::string_view(text).substr(begin, end - begin)) || !variable["value"]) continue;
    return text.substr(0, dollar) + std::string(variable["value"].text) + text.substr(end + (close != '\0' ? 1 : 0));
  }
  return text;
}

struct Argument {
  const Value* value;
  std::string_view text;
};

std::vector<Argument> arguments_of(const Value& container) {
  std::vector<Argument> out;
  for (const std::string_view key : {"command", "args"}) {
    for (const Value& value : container[key].children()) {
      if (value.is_scalar()) out.push_back({&value, value.text});
    }
  }
  return out;
}

void read_script(const File& file, const Value& script, const Value& environment, std::vector<Words>& out) {
  for (const std::vector<ShellWord>& command : shell_commands(script.text)) {
    Words words;
    for (const ShellWord& word : command) {
      words.push_back({resolved(word.text, environment), part_of(file, script, word.offset, word.size)});
    }
    out.push_back(std::move(words));
  }
}

/// Where a command line starts an engine: how many of its words do so.
std::optional<std::pair<EngineKind, std::size_t>> start_of(const Words& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i].text;
    const std::string_view name = base_name(word);
    const std::string_view next = i + 1 < words.size() ? std::string_view(words[i + 1].text) : std::string_view();
    if (name == "vllm" && next == "serve") return std::pair(EngineKind::vllm, i + 2);
    if (word.starts_with("vllm.entrypoints.")) return std::pair(EngineKind::vllm, i + 1);
    if (word.starts_with("sglang.launch_server")) return std::pair(EngineKind::sglang, i + 1);
    if (name == "trtllm-serve") return std::pair(EngineKind::trtllm, i + 1);
    if (name == "text-generation-launcher") return std::pair(EngineKind::tgi, i + 1);
  }
  return std::nullopt;
}

/// Engines take `--tensor_parallel_size` for `--tensor-parallel-size`.
bool is_flag(std::string_view word, std::string_view name) {
  const auto same = [](char a, char b) { return a == b || ((a == '_' || a == '-') && (b == '_' || b == '-')); };
  return word.size() >= name.size() && std::ranges::equal(word.substr(0, name.size()), name, same);
}

/// An image whose own entry point is the engine, so that `args` are its flags.
std::optional<EngineKind> engine_of_image(std::string_view image) {
  if (image.find("vllm-openai") != image.npos || image.find("vllm/vllm") != image.npos) return EngineKind::vllm;
  if (image.find("text-generation-inference") != image.npos) return EngineKind::tgi;
  return std::nullopt;
}

}  // namespace

std::vector<std::vector<CommandWord>> commands_of(const File& file, const Value& container) {
  std::vector<Words> out;
  const std::vector<Argument> arguments = arguments_of(container);
  const Value& environment = container["env"];
  Words plain;
  bool shell = false;
  for (const Argument& argument : arguments) {
    const bool script =
        shell && (argument.text.find(' ') != argument.text.npos || argument.text.find('\n') != argument.text.npos);
    if (script) {
      read_script(file, *argument.value, environment, out);
      continue;
    }
    if (plain.empty() && is_shell(argument.text)) shell = true;
    plain.push_back({resolved(std::string(argument.text), environment), argument.value->span});
  }
  if (!plain.empty() && !(shell && !out.empty())) out.push_back(std::move(plain));
  return out;
}

std::optional<CommandWord> EngineCommand::flag(std::initializer_list<std::string_view> names) const {
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i].text;
    for (const std::string_view name : names) {
      // A value is written beside its flag, behind '=', or within one argument behind a blank.
      if (!is_flag(word, name)) continue;
      if (word.size() == name.size()) return words[std::min(i + 1, words.size() - 1)];
      if (word[name.size()] != '=' && word[name.size()] != ' ') continue;
      return CommandWord{std::string(word.substr(name.size() + 1)), words[i].span};
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

/// TGI takes the flags that it is not given from its environment.
void add_environment(const Value& container, EngineCommand& engine) {
  if (engine.kind != EngineKind::tgi || engine.flag({"--num-shard"})) return;
  for (const Value& variable : container["env"].children()) {
    if (!variable["name"].is("NUM_SHARD") || !variable["value"].is_scalar()) continue;
    engine.words.push_back({"--num-shard", variable["value"].span});
    engine.words.push_back({std::string(variable["value"].text), variable["value"].span});
  }
}

}  // namespace

std::optional<EngineCommand> engine_of(const File& file, const Value& container) {
  for (Words& command : commands_of(file, container)) {
    const auto start = start_of(command);
    if (!start) continue;
    EngineCommand engine;
    engine.kind = start->first;
    engine.words.assign(std::make_move_iterator(command.begin() + static_cast<std::ptrdiff_t>(start->second)),
                        std::make_move_iterator(command.end()));
    add_environment(container, engine);
    return engine;
  }
  const std::optional<EngineKind> kind = engine_of_image(container["image"].text);
  if (!kind || container["command"]) return std::nullopt;
  EngineCommand engine;
  engine.kind = *kind;
  for (const Value& argument : container["args"].children()) {
    if (!argument.is_scalar()) continue;
    engine.words.push_back({resolved(std::string(argument.text), container["env"]), argument.span});
  }
  add_environment(container, engine);
  return engine;
}

std::size_t engines_in(const File& file, const Value& container) {
  const std::vector<Words> commands = commands_of(file, container);
  return static_cast<std::size_t>(
      std::ranges::count_if(commands, [](const Words& words) { return start_of(words).has_value(); }));
}

bool joins_other_pods(const File& file, const Value& container) {
  const std::vector<Words> commands = commands_of(file, container);
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

/// What one flag multiplies the GPUs by: 1 where it is not given, nothing where its value cannot be read.
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
  // SGLang's data-parallel attention divides the GPUs of --tp-size instead of asking for more.
  if (engine.flag({"--enable-dp-attention"})) return 1;
  return factor_of(engine, {"--dp-size", "--dp", "--data-parallel-size"});
}

}  // namespace

std::optional<std::int64_t> wanted_gpus(const EngineCommand& engine) {
  const bool sglang = engine.kind == EngineKind::sglang;
  const auto tensor = sglang ? engine.number({"--tp-size", "--tp", "--tensor-parallel-size"})
                             : engine.number({"--tensor-parallel-size", "-tp", "--tp_size", "--num-shard"});
  const auto pipeline = factor_of(engine, {"--pipeline-parallel-size", "-pp", "--pp-size", "--pp_size"});
  const auto data = data_parallel_of(engine);
  if (!tensor || *tensor < 1 || *tensor > 1024 || !pipeline || !data) return std::nullopt;
  return *tensor * *pipeline * *data;
}

}  // namespace capstan::lint
