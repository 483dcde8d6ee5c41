#pragma once

#include <string_view>
#include <vector>

#include "tree/rooms.h"
#include "tree/source.h"

namespace capstan::tree {

/// A ban on what a line may hold. Every row carries its own proof: a line that it must catch and one that it must let
/// through, so a ban that stopped working fails the tests.
struct LineRule {
  const char* name;
  const char* because;  ///< ends the message: what is expected instead
  const char* pattern;  ///< ECMAScript, searched in the line
  enum class Sees { code, text } sees;
  bool (*applies)(const Source&);
  const char* bad_path;  ///< a file where `bad_line` must be caught
  const char* bad_line;
  const char* good_path;  ///< a file where `good_line` must pass: an exception, another room, or a near miss
  const char* good_line;
};

const std::vector<LineRule>& line_rules();

/// All bans on one file's lines.
std::vector<Finding> check_lines(const Source& source);

inline constexpr std::size_t kMaxColumns = 120;  ///< characters, not bytes
inline constexpr std::size_t kMaxLines = 600;    ///< more than one concept lives there: split it

/// Of the project's own sources; a test may be a long table of rows.
inline constexpr std::size_t kMaxFunctionLines = 70;

/// Length of lines, files and functions, and `#pragma once` as the first line of code of every header.
std::vector<Finding> check_shape(const Source& source);

/// Source files that no test beside them covers: neither `x_test.cc` next to `x.cc`, nor a test of the same room that
/// includes its header (or the header it shares, as cluster_nodes.cc shares cluster.h), or reaches it through headers.
/// Programs' main files and the list in rules.cc are excepted.
std::vector<Finding> check_tested(const std::vector<Source>& tree);

/// Files that are excepted from a rule and are not in the tree: an exception that nobody needs any more.
std::vector<Finding> check_exceptions(const std::vector<Source>& tree);

}  // namespace capstan::tree
