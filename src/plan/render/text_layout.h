#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

// Layout of the text pages of plans, in columns.
namespace capstan::plan {

inline constexpr std::size_t kTextColumns = 100;

/// Returns the text in lines of at most `kTextColumns`. The first line starts with `start`, later ones with `indent`
/// spaces. A word that is longer than a line has a line of its own.
std::string folded(std::string_view start, std::string_view text, std::size_t indent);

/// Returns a shell command in lines of at most `kTextColumns`, which end with a backslash where the command goes on.
std::string folded_command(std::string_view start, std::string_view command, std::size_t indent);

/// Returns the text with `indent` spaces before each line that is not empty.
std::string indented(std::string_view text, std::size_t indent);

/// Returns rows of cells as lines, the first two columns left-aligned and the others right-aligned. Empty columns are
/// left out.
/// @param starts  text before each row, all of the same width
std::string aligned(const std::vector<std::string>& starts, const std::vector<std::vector<std::string>>& rows);

}  // namespace capstan::plan
