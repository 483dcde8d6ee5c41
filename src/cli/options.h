#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/commands.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

// Options that several commands share.
namespace capstan::cli {

/// Adds an option whose value is one of `words`, in upper or lower case. `take` is called with the word as written in
/// the list.
CLI::Option* add_word(CLI::App& command, const std::string& option, const std::vector<std::string>& words,
                      std::function<void(const std::string&)> take, const std::string& help);

/// Adds the options that change a scenario.
void add_changes(CLI::App& command, scenario::ScenarioOverrides& changes);

/// Adds `--policy`.
/// @param several  true: it may be repeated
void add_policy(CLI::App& command, std::vector<std::string>& names, bool several);

/// Adds `-o text|json`.
/// @param when  a condition for the help, such as "With --once"
void add_output(CLI::App& command, Output& output, const std::string& when = {});

/// Adds an option that names a host under which browsers reach a server.
CLI::Option* add_host(CLI::App& command, const std::string& option, std::vector<std::string>& hosts,
                      const std::string& help);

}  // namespace capstan::cli
