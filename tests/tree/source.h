#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace capstan::tree {

/// One file of the project, as input of the rules.
struct Source {
  std::string path;                ///< path from the project's root: "src/decide/scale/hpa.cc"
  std::vector<std::string> lines;  ///< the unchanged lines
  std::vector<std::string> code;   ///< C++ and TypeScript: the same lines without comments and the insides of literals

  /// Returns the room, such as "decide" for every file below src/decide/. Empty for other files.
  std::string_view room() const;
  bool is_cpp() const;          ///< .cc or .h
  bool is_header() const;       ///< .h
  bool is_page_script() const;  ///< .ts or .tsx
  bool is_test() const;         ///< *_test.cc or anything below tests/
};

Source make_source(std::string path, std::string_view text);

/// Removes comments and empties string and character literals, so that the rules see only code. A block comment leaves
/// spaces. The paths of #include lines stay.
std::vector<std::string> code_only(const std::vector<std::string>& lines);

/// Reads every text file that the rules check, sorted by path. Skips `data/`, `build/`, `.git/` and installed packages.
std::vector<Source> read_tree(const std::string& root);

}  // namespace capstan::tree
