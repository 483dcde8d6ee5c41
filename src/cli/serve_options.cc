#include <CLI/CLI.hpp>

#include "cli/options.h"
#include "cli/serve.h"

namespace capstan::cli {
namespace {

/// Returns the error of an invalid host name, or an empty text.
std::string host_error(const std::string& host) {
  const bool plain = !host.empty() && host.find_first_of(" \t/@?#") == std::string::npos &&
                     (host.find(':') == std::string::npos || host.starts_with('['));
  return plain ? "" : "'" + host + "' is no host name, expected one without scheme and port, such as dash.example";
}

}  // namespace

CLI::App* add_serve(CLI::App& app, ServeArguments& arguments) {
  CLI::App* command = app.add_subcommand("serve", "Show a result, a recording or a scenario as a page in the browser");
  command
      ->add_option("file", arguments.file,
                   "A result that `compare -o json` wrote, a recording, or a scenario to simulate")
      ->required()
      ->option_text("FILE");
  command->add_option("--listen", arguments.listen, "Address and port; port 0 takes a free one")
      ->option_text("ADDRESS:PORT");
  command->add_option("--host", arguments.hosts, "Further name under which browsers reach the server; may be repeated")
      ->option_text("NAME")
      ->allow_extra_args(false)
      ->check(host_error);
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
