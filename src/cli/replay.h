#pragma once

#include <string>

#include "cli/commands.h"

namespace CLI {
class App;
}  // namespace CLI

namespace capstan::cli {

struct ReplayArguments {
  std::string recording;
  std::string policy;  ///< YAML file with policies that replace the recorded ones; empty: none
  std::string at;      ///< moment whose arithmetic is printed, a duration; empty: all actions
  Output output = Output::text;
};

CLI::App* add_replay(CLI::App& app, ReplayArguments& arguments);

/// Decides a recording again. Prints the actions, or, with other policies, the first state in which these act
/// differently.
ExitCode replay(const ReplayArguments& arguments);

}  // namespace capstan::cli
