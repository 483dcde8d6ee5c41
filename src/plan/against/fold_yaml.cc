#include "plan/against/fold_yaml.h"

#include <algorithm>

namespace capstan::plan {

namespace {

constexpr std::size_t kContinuedIndent = 4;  ///< added columns of a line that continues another

/// Returns the comment in several lines that each begin with "# ".
std::string folded_comment(std::string_view line, std::size_t columns) {
  const std::string start = std::string(line.substr(0, line.find('#'))) + "# ";
  line.remove_prefix(std::min(start.size(), line.size()));
  std::string out;
  while (start.size() + line.size() > columns) {
    const std::size_t end = line.rfind(' ', columns - std::min(columns, start.size()));
    if (end == line.npos || end == 0) break;
    out += start + std::string(line.substr(0, end)) + '\n';
    line.remove_prefix(end + 1);
  }
  return out + start + std::string(line) + '\n';
}

/// Returns true if a quoted text can be broken before a character: at a single space, or after a comma.
bool can_break(std::string_view line, std::size_t at) {
  const bool is_single_space = line[at] == ' ' && line[at - 1] != ' ' && at + 1 < line.size() && line[at + 1] != ' ';
  return (is_single_space && line[at - 1] != '\\') || line[at - 1] == ',';
}

/// Returns the last position within `columns` at which a quoted text can be broken, or else the first such position
/// after `columns`; 0 if there is none.
/// @param first  position of the first character that may be on the next line
std::size_t break_position(std::string_view line, std::size_t first, std::size_t columns) {
  for (std::size_t at = std::min(columns - 1, line.size() - 1); at > first; --at) {
    if (can_break(line, at)) return at;
  }
  for (std::size_t at = std::max(columns, first + 1); at + 1 < line.size(); ++at) {
    if (can_break(line, at)) return at;
  }
  return 0;
}

std::string folded_quotes(std::string_view line, std::size_t indent, std::size_t quote, std::size_t columns) {
  const std::string start(indent + kContinuedIndent, ' ');
  std::string out, rest(line);
  std::size_t first = quote + 1;
  while (rest.size() > columns) {
    const std::size_t at = break_position(rest, first, columns);
    if (at == 0) break;
    const bool is_space = rest[at] == ' ';
    out += rest.substr(0, at) + (is_space ? "" : "\\") + '\n';
    rest = start + rest.substr(at + (is_space ? 1 : 0));
    first = start.size();
  }
  return out + rest + '\n';
}

}  // namespace

std::string folded_yaml(std::string_view yaml, std::size_t columns) {
  std::string out;
  std::size_t block_indent = std::string_view::npos;  // indentation of the key of a literal block; npos: outside one
  while (!yaml.empty()) {
    const std::size_t end = std::min(yaml.find('\n'), yaml.size());
    const std::string_view line = yaml.substr(0, end);
    yaml.remove_prefix(std::min(end + 1, yaml.size()));
    const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
    if (block_indent != std::string_view::npos && indent <= block_indent && !line.empty()) block_indent = line.npos;
    const std::size_t quote = line.find('"');
    if (block_indent != line.npos || line.size() <= columns) {
      out += std::string(line) + '\n';
    } else if (line[indent] == '#') {
      out += folded_comment(line, columns);
    } else if (quote != line.npos && line.ends_with('"')) {
      out += folded_quotes(line, indent, quote, columns);
    } else {
      out += std::string(line) + '\n';
    }
    if (block_indent == line.npos && (line.ends_with('|') || line.ends_with("|-"))) block_indent = indent;
  }
  return out;
}

}  // namespace capstan::plan
