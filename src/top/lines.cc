#include "top/lines.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "base/control_characters.h"
#include "experiment/text/layout.h"

namespace capstan::top {
namespace {

using experiment::columns;

constexpr std::size_t kGap = 2;  ///< columns between two cells

std::string_view code_of(TextStyle style) {
  constexpr std::array<std::string_view, 8> kCodes = {"", "1", "2", "32", "33", "31", "36", "35"};
  return kCodes[static_cast<std::size_t>(style)];
}

/// Returns the length of the UTF-8 character at the start of a text; 0 if there is none.
std::size_t character_length(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.front());
  const std::size_t length = first < 0x80   ? 1
                             : first < 0xc2 ? 0
                             : first < 0xe0 ? 2
                             : first < 0xf0 ? 3
                             : first < 0xf5 ? 4
                                            : 0;
  if (length == 0 || length > text.size()) return 0;
  const auto is_tail = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; };
  return std::ranges::all_of(text.substr(1, length - 1), is_tail) ? length : 0;
}

/// Returns the text for a terminal without UTF-8.
std::string ascii(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = std::max<std::size_t>(character_length(text), 1);
    const std::string_view one = text.substr(0, length);
    out += static_cast<unsigned char>(one.front()) < 0x80 ? one
           : one == "·" || one == "–"                     ? "-"
           : one == "…"                                   ? "~"
                                                          : "?";
    text.remove_prefix(length);
  }
  return out;
}

std::size_t width_of(const Spans& spans) {
  return std::accumulate(spans.begin(), spans.end(), std::size_t{0},
                         [](std::size_t sum, const Span& span) { return sum + columns(span.text); });
}

}  // namespace

std::string plain(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t control = control_length(text);
    const std::size_t length = control > 0 ? 0 : character_length(text);
    if (length == 0) out += '?';
    out += text.substr(0, length);
    text.remove_prefix(std::max({control, length, std::size_t{1}}));
  }
  return out;
}

std::string line(const Spans& spans, const Output& output) {
  std::string out;
  std::size_t left = output.width;
  const std::size_t all = width_of(spans);
  std::size_t done = 0;
  for (const Span& span : spans) {
    if (left == 0) break;
    const std::size_t wide = columns(span.text);
    // If the rest of the line does not fit, an ellipsis takes the last column.
    const bool is_cut = wide > left || (wide == left && done + wide < all);
    std::string text = is_cut ? experiment::shortened(span.text + " ", left) : span.text;
    if (!output.utf8) text = ascii(text);
    const std::string_view code = output.color ? code_of(span.style) : std::string_view();
    if (code.empty()) out += text;
    if (!code.empty()) out.append("\x1b[").append(code).append("m").append(text).append("\x1b[0m");
    left -= std::min(wide, left);
    done += wide;
  }
  if (!output.color) out.erase(out.find_last_not_of(' ') + 1);
  return out;
}

std::vector<std::string> Table::lines(const Output& output) const {
  std::vector<std::size_t> widths, shown;
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    std::size_t width = columns(columns_[i].head);
    bool is_used = false;
    for (const std::vector<Spans>& row : rows_) {
      width = std::max(width, width_of(row[i]));
      is_used |= width_of(row[i]) > 0;
    }
    widths.push_back(width);
    if (is_used || rows_.empty()) shown.push_back(i);
  }
  const auto all = [&] {
    std::size_t sum = 0;
    for (const std::size_t i : shown) sum += widths[i] + kGap;
    return sum - kGap;
  };
  while (shown.size() > 1 && all() > output.width) {
    const auto least = std::ranges::min_element(shown, {}, [&](std::size_t i) { return columns_[i].keep; });
    shown.erase(least);
  }
  std::vector<std::string> out;
  const auto add = [&](const auto& cell_of) {
    Spans spans;
    for (const std::size_t i : shown) {
      const Spans cell = cell_of(i);
      const std::string fill(widths[i] - width_of(cell), ' ');
      if (!spans.empty()) spans.push_back({std::string(kGap, ' ')});
      if (columns_[i].right) spans.push_back({fill});
      spans.insert(spans.end(), cell.begin(), cell.end());
      if (!columns_[i].right && i != shown.back()) spans.push_back({fill});
    }
    out.push_back(line(spans, output));
  };
  add([&](std::size_t i) { return Spans{{columns_[i].head, TextStyle::strong}}; });
  for (const std::vector<Spans>& row : rows_) add([&](std::size_t i) { return row[i]; });
  return out;
}

}  // namespace capstan::top
