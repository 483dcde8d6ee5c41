#pragma once

#include <string>

#include "cli/commands.h"
#include "kube/session.h"
#include "top/frame.h"

namespace CLI {
class App;
}  // namespace CLI

namespace capstan::cli {

struct TopArguments {
  std::string file;                       ///< a recording, a snapshot or a scenario; empty: the cluster
  scenario::ScenarioOverrides overrides;  ///< overrides of a scenario
  kube::ClusterArguments cluster;         ///< cluster to show if there is no file
  std::string at;                         ///< moment since the first state; empty: the last state
  double speed = 60;                      ///< of a scenario: simulated time for each unit of real time
  bool once = false;                      ///< print one frame, also on a terminal
  capstan::top::NodeOrder sort{};
};

CLI::App* add_top(CLI::App& app, TopArguments& arguments);

/// Shows nodes, replicas and services in the terminal, until a key or a signal ends it. Without a terminal it prints
/// one frame.
ExitCode top(const TopArguments& arguments);

}  // namespace capstan::cli
