#include "plan/render/text_layout.h"

#include <algorithm>

#include "experiment/text/layout.h"

namespace capstan::plan {

namespace {

using experiment::columns;

constexpr std::size_t kLeftColumns = 2;  ///< columns of a table that are aligned to the left

/// Folds a text at spaces.
/// @param line_end  written before each line break
std::string folded_with(std::string_view start, std::string_view text, std::size_t indent, std::string_view line_end) {
  std::string out(start);
  std::size_t column = columns(start);
  bool is_first = true;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!is_first && column + 1 + columns(word) + line_end.size() > kTextColumns) {
      out += std::string(line_end) + '\n' + std::string(indent, ' ');
      column = indent;
    } else if (!is_first) {
      out += ' ';
      ++column;
    }
    out += word;
    column += columns(word);
    is_first = false;
  }
  return out + '\n';
}

}  // namespace

std::string folded(std::string_view start, std::string_view text, std::size_t indent) {
  return folded_with(start, text, indent, "");
}

std::string folded_command(std::string_view start, std::string_view command, std::size_t indent) {
  return folded_with(start, command, indent, " \\");
}

std::string indented(std::string_view text, std::size_t indent) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    out += std::string(end > at ? indent : 0, ' ') + std::string(text.substr(at, end - at)) + '\n';
    at = end + 1;
  }
  return out;
}

std::string aligned(const std::vector<std::string>& starts, const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], columns(row[i]));
  }
  std::string out;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    std::string line = starts[r];
    bool is_first = true;
    for (std::size_t i = 0; i < rows[r].size(); ++i) {
      if (widths[i] == 0) continue;
      const std::string space(widths[i] - columns(rows[r][i]), ' ');
      line += (is_first ? "" : "  ") + (i < kLeftColumns ? rows[r][i] + space : space + rows[r][i]);
      is_first = false;
    }
    while (line.ends_with(' ')) line.pop_back();
    out += line + '\n';
  }
  return out;
}

}  // namespace capstan::plan
