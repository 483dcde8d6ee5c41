#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace capstan::tree {

/// One file of the project as the rules see it.
struct Source {
  std::string path;                ///< from the project's root: "src/decide/scale/hpa.cc"
  std::vector<std::string> lines;  ///< as written
  std::vector<std::string> code;   ///< C++ only: the same lines, comments blanked and literals emptied

  /// "decide" for anything below src/decide/; empty outside src/ and for files directly in it.
  std::string_view room() const;
  bool is_cpp() const;     ///< .cc or .h
  bool is_header() const;  ///< .h
  bool is_test() const;    ///< *_test.cc or anything below tests/
};

Source make_source(std::string path, std::string_view text);

/// The lines with comments replaced by spaces and the insides of string and character literals removed, so that a word
/// in a comment is not taken for code. Paths of #include lines stay.
std::vector<std::string> code_only(const std::vector<std::string>& lines);

/// Every text file of the project that the rules look at, in the order of paths. `data/`, `build/` and `.git/` are not
/// walked.
std::vector<Source> read_tree(const std::string& root);

}  // namespace capstan::tree
