#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace capstan::manifest {

/// A word of a shell script and its place in the script.
struct ShellWord {
  std::string text;  ///< quotes resolved, variables as written
  std::size_t offset = 0;
  std::size_t size = 0;  ///< bytes in the script, quotes included
};

/// Splits a script into commands and words. Commands end at `;`, `&&`, `||`, `|`, `&`, parentheses and line breaks
/// without a `\`. Nothing is executed or resolved: variables keep their `$`, and `$(...)` is one word with its blanks.
std::vector<std::vector<ShellWord>> shell_commands(std::string_view script);

}  // namespace capstan::manifest
