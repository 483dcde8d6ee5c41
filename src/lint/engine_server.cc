#include "lint/engine_server.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <string_view>
#include <vector>

namespace capstan::lint {
namespace {

using Command = std::vector<CommandWord>;

bool contains_any(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(words, [&](std::string_view word) { return text.find(word) != text.npos; });
}

/// Returns true for a command that only prepares the start of the engine: it ends before the engine starts, and does
/// not change the engine's flags.
bool only_prepares(const Command& command) {
  constexpr std::string_view kWords[] = {"set", "cd",   "export", "echo",  "sleep",      "mkdir",           "pip",
                                         "hf",  "pip3", "uv",     "unset", "nvidia-smi", "huggingface-cli", "ls"};
  return !command.empty() && std::ranges::find(kWords, command.front().text) != std::end(kWords);
}

/// Returns true if the container also runs commands other than the engine, or if its script starts one of several
/// engines.
bool runs_other_commands(const manifest::ContainerStart& start) {
  const std::vector<Command> commands = commands_of(start);
  if (commands.size() < 2) return engines_in(start) > 1;
  return engines_in(start) != 1 || !std::ranges::all_of(commands.begin(), std::prev(commands.end()), only_prepares);
}

/// Returns true if a word of the command line may expand to flags. `${PORT}` after a flag is only its value.
bool may_hold_flags(const EngineCommand& engine, std::size_t index) {
  const std::string_view word = engine.words[index].text;
  if (word.starts_with('@') || word == "&" || word == "|" || word.find("{{") != word.npos) return true;
  if (word.find('$') == word.npos) return false;
  const std::string_view before = index > 0 ? std::string_view(engine.words[index - 1].text) : std::string_view();
  const bool is_value = index == 0 || word.starts_with('-') || (before.starts_with('-') && !before.contains('='));
  return !is_value || contains_any(word, {"ARG", "FLAG", "OPT", "EXTRA", "@"});
}

/// Returns true if flags of the engine may come from a file, a variable or a template.
bool has_unknown_flags(const EngineCommand& engine) {
  if (engine.flag({"--config", "--uds", "--fd"})) return true;
  for (std::size_t i = 0; i < engine.words.size(); ++i) {
    if (may_hold_flags(engine, i)) return true;
  }
  return false;
}

/// Returns true if a flag or a variable may make the container listen on more ports, for transfers of the KV cache,
/// other ranks or gRPC.
bool may_open_other_ports(const Value& container, const EngineCommand& engine) {
  const auto names_port = [](const CommandWord& word) {
    if (!word.text.starts_with("--") || word.text == "--port" || word.text.starts_with("--port=")) return false;
    return contains_any(word.text,
                        {"port", "kv", "data-parallel", "data_parallel", "--dp", "headless", "nnodes", "node-rank",
                         "dist-init", "grpc", "disaggregation", "ec-", "master", "router", "middleware"});
  };
  const auto is_for_ports = [](const Value& variable) {
    return contains_any(variable["name"].text, {"PORT", "LMCACHE", "NIXL", "RAY_", "MOONCAKE", "VLLM_PLUGINS"});
  };
  return std::ranges::any_of(engine.words, names_port) ||
         std::ranges::any_of(container["env"].children(), is_for_ports);
}

bool is_localhost(std::string_view host) { return host == "127.0.0.1" || host == "localhost" || host == "::1"; }

}  // namespace

std::optional<EngineServer> engine_server(const Value& container) {
  const manifest::ContainerStart start = start_of(container);
  const std::optional<EngineCommand> engine = engine_of(start);
  if (!engine || (engine->kind != EngineKind::vllm && engine->kind != EngineKind::sglang)) return std::nullopt;
  if (runs_other_commands(start) || has_unknown_flags(*engine)) return std::nullopt;
  const bool is_vllm = engine->kind == EngineKind::vllm;
  const auto host = engine->flag({"--host"});
  const auto port = engine->number({"--port"});
  const bool has_unknown_host = host && host->text.find('$') != host->text.npos;
  if (has_unknown_host || (engine->flag({"--port"}) && !port)) return std::nullopt;
  return EngineServer{.kind = engine->kind,
                      .port = port.value_or(is_vllm ? 8000 : 30000),
                      .is_on_localhost = host ? is_localhost(host->text) : !is_vllm,
                      .is_only_server = !may_open_other_ports(container, *engine)};
}

std::optional<EngineServer> only_server(const Pod& pod) {
  const Containers containers = containers_of(pod);
  if (std::ranges::distance(containers) != 1) return std::nullopt;
  const auto runs_on = [](const Value* container) { return is_sidecar(*container); };
  if (pod.container == nullptr && std::ranges::any_of(init_containers_of(pod), runs_on)) return std::nullopt;
  const std::optional<EngineServer> server = engine_server(**containers.begin());
  return server && server->is_only_server ? server : std::nullopt;
}

std::optional<std::int64_t> port_number(const Value& container, const Value& port) {
  if (const auto number = port.integer()) return number;
  for (const Value& entry : container["ports"].children()) {
    if (port.is_scalar() && entry["name"].is(port.text)) return entry["containerPort"].integer();
  }
  return std::nullopt;
}

}  // namespace capstan::lint
