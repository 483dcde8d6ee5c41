#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace capstan::manifest {

/// A word of a shell script, with where it stands in it.
struct ShellWord {
  std::string text;  ///< quotes resolved, variables as they are written
  std::size_t offset = 0;
  std::size_t size = 0;  ///< as written, quotes included
};

/// The commands of a script: words between `;`, `&&`, `||`, `|`, `&` and line breaks that no `\` takes back. Nothing is
/// run or looked up: a word that is made when the script runs keeps its `$`, and what stands in `$(...)` its blanks.
std::vector<std::vector<ShellWord>> shell_commands(std::string_view script);

}  // namespace capstan::manifest
