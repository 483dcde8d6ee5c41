#include "plan/against/engine_arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "plan/against/existing_object.h"

namespace capstan::plan {

namespace {

using manifest::Node;

/// A word of a command line.
struct CommandWord {
  std::string text{};
  const Node* place = nullptr;
};

/// Returns the words of a shell script. Quotes group words; a backslash before a line break continues the line.
std::vector<CommandWord> script_words(const Node& script) {
  std::vector<CommandWord> out;
  std::string word;
  char quote = '\0';
  for (const char c : script.text) {
    if (quote != '\0') {
      if (c == quote)
        quote = '\0';
      else
        word += c;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == ' ' || c == '\n' || c == '\t' || c == '\\') {
      if (!word.empty()) out.push_back({std::exchange(word, {}), &script});
    } else {
      word += c;
    }
  }
  if (!word.empty()) out.push_back({word, &script});
  return out;
}

std::vector<CommandWord> command_words(const Node& container) {
  std::vector<CommandWord> out;
  for (const std::string_view key : {"command", "args"}) {
    const Node* list = container.find(key);
    if (list == nullptr) continue;
    for (const Node& item : list->items) {
      const bool is_script = item.text.find_first_of(" \n") != std::string::npos && !item.text.starts_with('-');
      if (is_script) {
        std::ranges::copy(script_words(item), std::back_inserter(out));
      } else {
        out.push_back({item.text, &item});
      }
    }
  }
  return out;
}

/// Returns the long form of a flag: "--tensor-parallel-size" for "-tp" and "--tensor_parallel_size".
std::string long_flag(std::string flag) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kShort = {
      {{"-tp", "--tensor-parallel-size"},
       {"-pp", "--pipeline-parallel-size"},
       {"-q", "--quantization"},
       {"--tp", "--tp-size"}}};
  for (const auto& [brief, full] : kShort) {
    if (flag == brief) return std::string(full);
  }
  std::ranges::replace(flag, '_', '-');
  return flag;
}

bool is_flag(const CommandWord& word) {
  return word.text.starts_with("--") || (word.text.size() > 1 && word.text[0] == '-' && word.text[1] >= 'a');
}

/// Returns true if the next word of the command line is the model: "serve", as in "vllm serve Qwen/Qwen3-8B".
bool introduces_model(const std::string& word) { return word == "serve" || word.ends_with("trtllm-serve"); }

const EngineOption* option_of(const std::vector<EngineOption>& options, std::string_view flag) {
  const auto found = std::ranges::find(options, flag, &EngineOption::flag);
  return found == options.end() ? nullptr : &*found;
}

bool is_model_flag(std::string_view flag) { return flag == "--model" || flag == "--model-path"; }

/// Returns the existing option that names the model.
const EngineOption* model_option(const std::vector<EngineOption>& options) {
  const auto found = std::ranges::find_if(options, is_model_flag, &EngineOption::flag);
  return found == options.end() ? nullptr : &*found;
}

/// Returns true if the engine uses this value when the flag is absent.
bool is_default_option(std::string_view flag, std::string_view value) {
  return (flag == "--tensor-parallel-size" || flag == "--tp-size") && value == "1";
}

ArgumentChange change_of(const EngineOption& existing, const std::string& flag, const std::string& value) {
  const bool has_flag = existing.text.starts_with('-') && existing.text.find('=') != std::string::npos;
  return {.flag = flag,
          .place = existing.place,
          .found = existing.text,
          .planned = has_flag ? existing.text.substr(0, existing.text.find('=') + 1) + value : value};
}

/// Compares the folder of the weights. If it changes, adds --served-model-name, so that clients can still use the
/// existing name of the model.
void compare_model(const std::string& flag, const std::string& planned, const std::vector<EngineOption>& options,
                   std::vector<ArgumentChange>& out) {
  const EngineOption* model = model_option(options);
  if (model != nullptr && model->value == planned) return;
  ArgumentChange change = model == nullptr ? ArgumentChange{.flag = flag, .planned = flag + "=" + planned}
                                           : change_of(*model, flag, planned);
  change.why = "the engine reads the weights from the node's disk, where the init container puts them";
  change.caution = "make this change together with the init container, its volumes and --served-model-name";
  out.push_back(change);
  if (option_of(options, "--served-model-name") != nullptr || model == nullptr) return;
  out.push_back({.flag = "--served-model-name",
                 .planned = "--served-model-name=" + model->value,
                 .why = "clients ask for the model by this name, whatever folder it is in",
                 .caution = ""});
}

}  // namespace

std::vector<EngineOption> engine_options(const Node& container) {
  std::vector<EngineOption> out;
  const std::vector<CommandWord> words = command_words(container);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const CommandWord& word = words[i];
    if (!is_flag(word)) {
      if (i > 0 && introduces_model(words[i - 1].text)) {
        out.push_back({.flag = "--model", .value = word.text, .place = word.place, .text = word.text});
      }
      continue;
    }
    const std::size_t equal = word.text.find('=');
    EngineOption option{.flag = long_flag(word.text.substr(0, equal)), .place = word.place, .text = word.text};
    if (equal != std::string::npos) {
      option.value = word.text.substr(equal + 1);
    } else if (i + 1 < words.size() && !is_flag(words[i + 1])) {
      option.value = words[i + 1].text;
      option.place = words[i + 1].place;
      option.text = option.value;
    }
    out.push_back(std::move(option));
  }
  return out;
}

std::vector<ArgumentChange> compare_arguments(const Yaml& planned, const Node& container) {
  const std::vector<EngineOption> options = engine_options(container);
  std::vector<ArgumentChange> out;
  for (const Yaml& element : planned.elements()) {
    const std::size_t equal = element.text().find('=');
    const std::string flag = long_flag(element.text().substr(0, equal));
    const std::string value = equal == std::string::npos ? "" : element.text().substr(equal + 1);
    const EngineOption* existing = option_of(options, flag);
    if (is_model_flag(flag)) {
      compare_model(flag, value, options, out);
    } else if (existing == nullptr) {
      const bool is_named = flag == "--served-model-name" && model_option(options) != nullptr;
      if (!is_default_option(flag, value) && flag != "--port" && !is_named) {
        out.push_back({.flag = flag, .planned = element.text()});
      }
    } else if (flag != "--port" && flag != "--served-model-name" && existing->value != value) {
      out.push_back(change_of(*existing, flag, value));
    }
  }
  return out;
}

std::string engine_port(const Node& container) {
  const std::vector<EngineOption> options = engine_options(container);
  if (const EngineOption* port = option_of(options, "--port")) return port->value;
  const Node* ports = container.find("ports");
  if (ports == nullptr || ports->items.empty()) return "";
  for (const Node& port : ports->items) {
    if (text_at(port, "name") == "http") return text_at(port, "containerPort");
  }
  return text_at(ports->items.front(), "containerPort");
}

}  // namespace capstan::plan
