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

/// Adds an option that takes one of a few words in upper or lower case. `take` gets the word as written in the list.
CLI::Option* add_word(CLI::App& command, const std::string& option, const std::vector<std::string>& words,
                      std::function<void(const std::string&)> take, const std::string& help);

/// Adds `-o text|json`.
/// @param when  a condition for the help, such as "With --once"
void add_output(CLI::App& command, Output& output, const std::string& when = {});

}  // namespace capstan::cli
