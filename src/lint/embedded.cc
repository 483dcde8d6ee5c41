#include "lint/embedded.h"

#include <algorithm>

#include "lint/contains.h"

namespace capstan::lint {

namespace {

constexpr std::size_t kMaxValues = 100'000;

}  // namespace

Embedded::Embedded(const File& file, const Value& scalar)
    : scalar_(&scalar), documents_(manifest::Documents::parse(scalar.text, {.values = kMaxValues})) {
  find_lines(file);
  if (!documents_.all().empty()) root_ = placed(documents_.all().front().root);
}

/// Fills `lines_`. A text without escapes gets one entry, because its bytes in the file are contiguous. A literal block
/// gets one entry per line, because each line is indented.
void Embedded::find_lines(const File& file) {
  const std::string_view source = file.parsed();
  const std::string_view text = scalar_->text;
  if (text.data() >= source.data() && text.data() + text.size() <= source.data() + source.size()) {
    lines_.push_back({0, static_cast<std::uint32_t>(text.data() - source.data())});
    return;
  }
  if (scalar_->style != manifest::Style::literal) return;
  std::size_t line = source.find('\n', scalar_->span.begin);
  for (std::size_t begin = 0, end = 0; begin < text.size() && line != source.npos; begin = end + 1) {
    end = std::min(text.find('\n', begin), text.size());
    const std::size_t line_end = std::min(source.find('\n', line + 1), source.size());
    const std::string_view written = source.substr(line + 1, line_end - line - 1);
    const std::string_view content = text.substr(begin, end - begin);
    const std::size_t indent = content.empty() ? 0 : written.find(content);
    if (indent == written.npos) return lines_.clear();
    lines_.push_back({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(line + 1 + indent)});
    line = line_end < source.size() ? line_end : source.npos;
  }
}

Span Embedded::placed(Span span) const {
  if (lines_.empty()) return scalar_->span;
  const auto place = [&](std::uint32_t offset) {
    const auto next = std::ranges::upper_bound(lines_, offset, {}, &Line::begin);
    const Line& line = next == lines_.begin() ? *next : *std::prev(next);
    return line.place + (offset - line.begin);
  };
  return {place(span.begin), span.size() == 0 ? place(span.begin) : place(span.end - 1) + 1};
}

Value Embedded::placed(const Value& value) {
  Value out = value;
  out.span = placed(value.span);
  if (value.key_span.size() > 0) out.key_span = placed(value.key_span);
  out.shared = out.shared || lines_.empty();
  if (value.count == 0) return out;
  std::vector<Value>& children = values_.emplace_back();
  children.reserve(value.count);
  for (const Value& child : value.children()) children.push_back(placed(child));
  out.first = children.data();
  return out;
}

std::vector<Embedded> embedded_with(const File& file, const Value& data, std::string_view word) {
  std::vector<Embedded> out;
  for (const Value& entry : data.children()) {
    if (entry.is_scalar() && contains(entry.text, word)) out.emplace_back(file, entry);
  }
  return out;
}

}  // namespace capstan::lint
