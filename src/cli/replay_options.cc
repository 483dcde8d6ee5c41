#include <CLI/CLI.hpp>

#include "cli/options.h"
#include "cli/replay.h"

namespace capstan::cli {

CLI::App* add_replay(CLI::App& app, ReplayArguments& arguments) {
  CLI::App* command =
      app.add_subcommand("replay", "Repeat the decisions of a recording, with its own policies or with others");
  command->add_option("recording", arguments.recording, "A file that --record wrote")
      ->required()
      ->option_text("RECORDING");
  CLI::Option* at = command->add_option(
      "--at", arguments.at,
      "Print the arithmetic of the first decisions at or after this moment: a duration since the start, or a "
      "time in UTC");
  at->option_text("MOMENT");
  command
      ->add_option("--policy", arguments.policy,
                   "Policies that replace the recorded ones: a file with scale, place or provision, as in a scenario")
      ->option_text("POLICY.yaml")
      ->excludes(at);
  add_output(*command, arguments.output);
  command->footer(
      "Examples:\n"
      "  capstan sim scenarios/azure-hour.yaml --record hour.rec\n"
      "  capstan replay hour.rec\n"
      "  capstan replay hour.rec --at 33m\n"
      "  capstan replay flight.rec --at 02:14\n"
      "  capstan replay flight.rec --at 2026-11-26T02:14:05Z\n"
      "  capstan replay hour.rec --policy policy.yaml\n\n"
      "Exit code 2: with --policy, a decision differs.");
  return command;
}

}  // namespace capstan::cli
