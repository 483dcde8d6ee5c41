#include "cli/options.h"

#include <CLI/CLI.hpp>

#include <utility>

#include "manifest/scalars.h"

namespace capstan::cli {
namespace {

/// Returns the error of an invalid seed, or an empty text. The bounds are the same as in the file of a scenario.
std::string seed_error(const std::string& text) {
  const auto value = manifest::read_integer(text);
  return value && *value >= 0 ? "" : "'" + text + "' is not a seed, expected 0 to 9223372036854775807";
}

}  // namespace

CLI::Option* add_word(CLI::App& command, const std::string& option, const std::vector<std::string>& words,
                      std::function<void(const std::string&)> take, const std::string& help) {
  std::string shown;
  for (const std::string& word : words) shown += (shown.empty() ? "" : "|") + word;
  return command.add_option_function<std::string>(option, std::move(take), help)
      ->transform(CLI::IsMember(words, CLI::ignore_case))  // it writes the word as in the list, unlike check()
      ->option_text(shown);
}

void add_output(CLI::App& command, Output& output, const std::string& when) {
  add_word(
      command, "-o,--output", {"text", "json"},
      [&output](const std::string& word) { output = word == "json" ? Output::json : Output::text; },
      when + (when.empty() ? "How" : ", how") + " the result is written: text or json");
}

void add_changes(CLI::App& command, scenario::ScenarioOverrides& changes) {
  command.add_option("--trace", changes.trace, "Replay this trace instead of the scenario's load")
      ->option_text("FILE")
      ->check([](const std::string& path) { return path.empty() ? "is empty, expected a file" : std::string(); });
  command.add_option("--seed", changes.seed, "Seed, instead of the scenario's")->option_text("N")->check(seed_error);
  command.add_option("--set", changes.sets, "Change one value of the scenario; may be repeated")
      ->option_text("path=value")
      ->allow_extra_args(false);
}

void add_policy(CLI::App& command, std::vector<std::string>& names, bool several) {
  CLI::Option* option = command.add_option("--policy", names)->option_text("NAME")->allow_extra_args(false);
  option->description(several ? "Only the policy of this name; may be repeated"
                              : "The policy of this name; default: the scenario's first");
  if (!several) option->expected(1);
}

CLI::Option* add_host(CLI::App& command, const std::string& option, std::vector<std::string>& hosts,
                      const std::string& help) {
  const auto error = [](const std::string& host) {
    const bool plain = !host.empty() && host.find_first_of(" \t/@?#") == std::string::npos &&
                       (host.find(':') == std::string::npos || host.starts_with('['));
    return plain ? "" : "'" + host + "' is no host name, expected one without scheme and port, such as dash.example";
  };
  return command.add_option(option, hosts, help)->option_text("NAME")->allow_extra_args(false)->check(error);
}

}  // namespace capstan::cli
