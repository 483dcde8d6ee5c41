#include "cli/reason_options.h"

#include <CLI/CLI.hpp>

#include <vector>

#include "cli/options.h"

namespace capstan::cli {

CLI::App* add_explain_reason(CLI::App& explain, ReasonArguments& arguments) {
  CLI::App* command = explain.add_subcommand("reason", "Explain a reason code: meaning, numbers, causes, what to do");
  command->add_option("code", arguments.code, "Reason code, as in a status, a log or an Event")
      ->required()
      ->option_text("CODE");
  add_output(*command, arguments.output);
  command->footer("Example:\n  capstan explain reason queue_limit");

  std::vector<const CLI::Option*> required;
  for (CLI::Option* option : explain.get_options()) {
    if (!option->get_required()) continue;
    option->required(false);
    required.push_back(option);
  }
  explain.final_callback([command, required] {
    if (command->parsed()) return;
    for (const CLI::Option* option : required) {
      if (option->count() == 0) throw CLI::RequiredError(option->get_name());
    }
  });
  return command;
}

}  // namespace capstan::cli
