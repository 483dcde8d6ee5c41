#pragma once

#include <string_view>
#include <vector>

#include "tree/rooms.h"
#include "tree/source.h"

namespace capstan::tree {

/// A pattern that lines must not contain. Every rule has one line that it must reject and one that it must accept, so
/// that a rule without effect fails the tests.
struct LineRule {
  const char* name;
  const char* expected_alternative;  ///< the end of the message: the expected alternative
  const char* pattern;               ///< an expression in the syntax of RE2, searched in the line
  enum class Scope { code, text } scope;
  bool (*applies)(const Source&);
  const char* bad_path;  ///< a file in which `bad_line` must be rejected
  const char* bad_line;
  const char* good_path;  ///< a file in which `good_line` must pass: an exception, another room, or a near miss
  const char* good_line;
  const char* allowed = nullptr;  ///< parts of a line that match this expression are not searched
};

const std::vector<LineRule>& line_rules();

/// Applies all line rules to one file.
std::vector<Finding> check_lines(const Source& source);

inline constexpr std::size_t kMaxColumns = 120;  ///< characters, not bytes
inline constexpr std::size_t kMaxLines = 600;    ///< a longer file has more than one concept and must be split

/// Largest number of lines of a function in a source. A test has no limit, because it may be a long table of rows.
inline constexpr std::size_t kMaxFunctionLines = 70;

/// Checks the length of lines, files and functions, and that `#pragma once` is the first line of code of every header.
std::vector<Finding> check_shape(const Source& source);

/// Finds source files without a test: neither `x_test.cc` next to `x.cc`, nor a test of the same room that includes its
/// header directly or through other headers. A source without its own header, such as consolidate.cc of
/// decide/provision, shares the header of its siblings, steps.h. Main files of programs and the list in rules.cc are
/// exceptions.
std::vector<Finding> check_tested(const std::vector<Source>& tree);

/// Finds exceptions for files that are not in the tree.
std::vector<Finding> check_exceptions(const std::vector<Source>& tree);

}  // namespace capstan::tree
