#include <CLI/CLI.hpp>

#include "cli/options.h"
#include "cli/serve.h"

namespace capstan::cli {
CLI::App* add_serve(CLI::App& app, ServeArguments& arguments) {
  CLI::App* command = app.add_subcommand("serve", "Show a result, a recording or a scenario as a page in the browser");
  command
      ->add_option("file", arguments.file,
                   "A result that `compare -o json` wrote, a recording, or a scenario to simulate")
      ->required()
      ->option_text("FILE");
  command->add_option("--listen", arguments.listen, "Address and port; port 0 takes a free one")
      ->option_text("ADDRESS:PORT");
  add_host(*command, "--host", arguments.hosts, "Further name under which browsers reach the server; may be repeated");
  CLI::Option* live = command->add_flag(
      "--live", arguments.live, "Show the first policy of a scenario while it is simulated, decision by decision");
  command->add_option("--speed", arguments.speed, "Simulated seconds per second of --live; 1 is real time")
      ->check(CLI::Range(0.01, 1'000'000.0))
      ->option_text("N")
      ->needs(live);
  add_policy(*command, arguments.overrides.policies, true);
  add_changes(*command, arguments.overrides);
  add_output(*command, arguments.output);
  command->footer(
      "Examples:\n"
      "  capstan serve scenarios/azure-hour.yaml\n"
      "  capstan compare scenarios/azure-hour.yaml -o json > hour.json\n"
      "  capstan serve hour.json --listen 127.0.0.1:8080\n"
      "  capstan serve hour.rec\n"
      "  capstan serve scenarios/azure-hour.yaml --live --speed 60");
  return command;
}

}  // namespace capstan::cli
