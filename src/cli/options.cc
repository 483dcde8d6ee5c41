#include "cli/options.h"

#include <CLI/CLI.hpp>

#include <utility>

namespace capstan::cli {

CLI::Option* add_word(CLI::App& command, const std::string& option, const std::vector<std::string>& words,
                      std::function<void(const std::string&)> take, const std::string& help) {
  std::string shown;
  for (const std::string& word : words) shown += (shown.empty() ? "" : "|") + word;
  return command.add_option_function<std::string>(option, std::move(take), help)
      ->check(CLI::IsMember(words, CLI::ignore_case))
      ->option_text(shown);
}

void add_output(CLI::App& command, Output& output, const std::string& when) {
  add_word(
      command, "-o,--output", {"text", "json"},
      [&output](const std::string& word) { output = word == "json" ? Output::json : Output::text; },
      when + (when.empty() ? "How" : ", how") + " the result is written: text or json");
}

}  // namespace capstan::cli
