#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/commands.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

// What the options of several commands are made of.
namespace capstan::cli {

/// An option that takes one of a few words, in any case; `take` gets it as it stands in the list.
CLI::Option* add_word(CLI::App& command, const std::string& option, const std::vector<std::string>& words,
                      std::function<void(const std::string&)> take, const std::string& help);

/// `-o text|json`.
/// @param when  a condition for the help: "With --once"
void add_output(CLI::App& command, Output& output, const std::string& when = {});

}  // namespace capstan::cli
