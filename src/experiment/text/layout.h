#pragma once

#include <cstddef>
#include <string>
#include <string_view>

// Text on a terminal: how wide it is, how it is aligned and wrapped.
namespace capstan::experiment {

/// Columns that a text takes on a terminal: one for each character, none for combining ones.
std::size_t columns(std::string_view text);
/// At most `width` columns, with an ellipsis where it was cut.
std::string shortened(const std::string& text, std::size_t width);
/// Spaces behind (right) or before (left) the text, up to `width` columns.
std::string pad_right(const std::string& text, std::size_t width);
std::string pad_left(const std::string& text, std::size_t width);
/// `label` and words behind it in lines of at most `width` columns, later lines below the first word; ends each line.
std::string wrapped(const std::string& label, std::string_view text, std::size_t width);
/// Each line of a text in lines of at most `width` columns; ends the last one.
std::string wrapped_lines(std::string_view text, std::size_t width);

}  // namespace capstan::experiment
