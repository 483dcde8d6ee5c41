#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

// Lines of a terminal: colours, bars and tables that adapt to the width.
namespace capstan::top {

enum class TextStyle : std::uint8_t { plain, strong, faint, good, caution, bad, accent, other };

/// The abilities of an output.
struct Output {
  std::size_t width = 120;
  bool color = false;
  bool utf8 = true;
};

/// Returns a text from a cluster in a form that cannot control the terminal: control characters, characters that change
/// the direction of a line, and bytes that are not UTF-8 become "?".
std::string plain(std::string_view text);

/// Text of one style.
struct Span {
  std::string text;
  TextStyle style = TextStyle::plain;
};
/// Text in a line or in a cell of a table.
using Spans = std::vector<Span>;

/// Returns a line with at most `output.width` columns, without an end of line. A text that is too long ends with an
/// ellipsis.
std::string line(const Spans& spans, const Output& output);

struct Column {
  std::string head;
  bool right = false;     ///< numbers are aligned on the right
  std::uint8_t keep = 0;  ///< columns with a low value are left out first if the line is too narrow
};

/// Rows with aligned cells. The first row is the head.
class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  /// @param cells  one for each column
  void add(std::vector<Spans> cells) { rows_.push_back(std::move(cells)); }
  /// Returns a line for the head and for each row.
  std::vector<std::string> lines(const Output& output) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<Spans>> rows_;
};

}  // namespace capstan::top
