#pragma once

#include <string>
#include <vector>

#include "cli/commands.h"

namespace CLI {
class App;
}  // namespace CLI

namespace capstan::cli {

struct ServeArguments {
  std::string file;                       ///< a result, a recording or a scenario
  scenario::ScenarioOverrides overrides;  ///< overrides of a scenario
  std::string listen = "127.0.0.1:7878";  ///< address and port; port 0 selects a free port
  std::vector<std::string> hosts;         ///< further names under which browsers may reach the server
  bool live = false;                      ///< show the scenario's first policy while it is simulated
  double speed = 60;                      ///< with `live`: simulated time for each unit of real time
  Output output = Output::text;
};

CLI::App* add_serve(CLI::App& app, ServeArguments& arguments);

/// Shows a result, a recording, or a scenario that it simulates first, as a page in the browser, until SIGINT or
/// SIGTERM arrives.
ExitCode serve(const ServeArguments& arguments);

}  // namespace capstan::cli
