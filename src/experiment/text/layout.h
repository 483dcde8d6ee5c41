#pragma once

#include <cstddef>
#include <string>
#include <string_view>

// Text on a terminal: width, alignment and line breaks.
namespace capstan::experiment {

/// Returns the columns of a text on a terminal: one for each character, none for combining characters.
std::size_t columns(std::string_view text);
/// Returns the text with at most `width` columns; a text that was cut ends with an ellipsis.
std::string shortened(const std::string& text, std::size_t width);
/// Returns the name with at most `width` columns. A longer name loses its middle, because names that begin alike differ
/// at their ends: "queue · gang · group" and "queue · gang · karpenter".
std::string shortened_name(const std::string& name, std::size_t width);
/// Fills the text with spaces up to `width` columns, after it (`pad_right`) or before it (`pad_left`).
std::string pad_right(const std::string& text, std::size_t width);
std::string pad_left(const std::string& text, std::size_t width);
/// Returns `label` followed by the text, in lines of at most `width` columns. Further lines are indented to the start
/// of the text. Each line ends with a newline.
std::string wrapped(const std::string& label, std::string_view text, std::size_t width);
/// Returns a text with a line break after each sentence, so that the steps of a calculation are lines. A sentence ends
/// with a full stop before a space and a capital letter or a digit.
std::string sentence_lines(std::string_view text);
/// Breaks each line of a text into lines of at most `width` columns. The last one ends with a newline, too.
std::string wrapped_lines(std::string_view text, std::size_t width);

}  // namespace capstan::experiment
