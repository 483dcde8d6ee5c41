#include "lint/edits.h"

#include <algorithm>
#include <vector>

namespace capstan::lint {
namespace {

using manifest::Form;
using manifest::Style;

std::uint32_t line_begin(std::string_view text, std::uint32_t offset) {
  const std::size_t line_break = offset == 0 ? text.npos : text.rfind('\n', offset - 1);
  return line_break == text.npos ? 0 : static_cast<std::uint32_t>(line_break + 1);
}

/// Returns the end of a line, before its line break.
std::uint32_t line_end(std::string_view text, std::uint32_t offset) {
  std::size_t end = std::min(text.find('\n', offset), text.size());
  if (end < text.size() && end > offset && text[end - 1] == '\r') --end;
  return static_cast<std::uint32_t>(end);
}

std::uint32_t next_line(std::string_view text, std::uint32_t offset) {
  const std::size_t line_break = text.find('\n', offset);
  return static_cast<std::uint32_t>(line_break == text.npos ? text.size() : line_break + 1);
}

bool is_space(std::string_view text) { return text.find_first_not_of(' ') == text.npos; }

/// Returns the quote that begins a key or value; 0 if it has no quotes.
char quote_of(std::string_view text, Span span) {
  const char first = span.size() == 0 ? '\0' : text[span.begin];
  return first == '"' || first == '\'' ? first : '\0';
}

/// Returns true if a text is the same in plain, single-quoted and double-quoted style.
bool needs_no_escapes(std::string_view text) { return text.find_first_of("\"'\\\n") == text.npos; }

std::string quoted(char quote, std::string_view text) {
  return quote == '\0' ? std::string(text) : quote + std::string(text) + quote;
}

bool is_number(std::string_view text) { return text.find_first_not_of("-.0123456789") == text.npos; }

bool is_editable(const Value& value) {
  return value.form == Form::scalar && !value.shared && value.span.size() > 0 && !value.is_block_scalar();
}

/// Returns the comments in a part of a line or of several lines. The part holds only spaces, colons, commas and
/// comments.
std::vector<std::string_view> comments_in(std::string_view text) {
  std::vector<std::string_view> comments;
  for (std::size_t at = text.find('#'); at != text.npos; at = text.find('#', at)) {
    std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view comment = text.substr(at, end - at);
    while (comment.ends_with('\r') || comment.ends_with(' ')) comment.remove_suffix(1);
    comments.push_back(comment);
    at = end;
  }
  return comments;
}

std::optional<Edit> line_removal(std::string_view text, const Value& entry) {
  const Span span = entry_of(entry);
  const std::uint32_t begin = line_begin(text, span.begin);
  const std::string_view indent = text.substr(begin, span.begin - begin);
  // The first entry of a list item is on the line of the dash, so its line cannot be removed.
  if (!is_space(indent)) return std::nullopt;
  const std::uint32_t end = next_line(text, span.end);
  std::string comments;
  const std::string_view before_value = text.substr(entry.key_span.end, entry.span.begin - entry.key_span.end);
  for (const std::string_view part : {before_value, text.substr(span.end, end - span.end)}) {
    for (const std::string_view comment : comments_in(part)) {
      comments += std::string(indent) + std::string(comment) + (text.substr(0, end).ends_with("\r\n") ? "\r\n" : "\n");
    }
  }
  if (!comments.empty() && !text.substr(0, end).ends_with('\n')) comments.pop_back();
  return Edit{{begin, end}, comments};
}

std::optional<Edit> flow_removal(std::string_view text, const Value& mapping, const Value& entry) {
  const Span span = entry_of(entry);
  const auto index = static_cast<std::size_t>(&entry - mapping.first);
  const bool last = index + 1 == mapping.count;
  const Value& neighbour = mapping.children()[last ? index - 1 : index + 1];
  if (neighbour.shared || neighbour.key_span.size() == 0) return std::nullopt;
  const Span neighbour_span = entry_of(neighbour);
  const Span removed = last ? Span{neighbour_span.end, span.end} : Span{span.begin, neighbour_span.begin};
  if (removed.begin > removed.end) return std::nullopt;
  const std::string_view gap = last ? text.substr(neighbour_span.end, span.begin - neighbour_span.end)
                                    : text.substr(span.end, neighbour_span.begin - span.end);
  if (gap.find('#') != gap.npos || gap.find(',') == gap.npos) return std::nullopt;
  return Edit{removed, ""};
}

}  // namespace

std::optional<Edit> value_edit(const File& file, const Value& value, std::string_view text) {
  if (!is_editable(value)) return std::nullopt;
  const char quote = quote_of(file.parsed(), value.span);
  if (quote != '\0' && !needs_no_escapes(text)) return std::nullopt;
  return Edit{value.span, quoted(quote, text)};
}

std::optional<Edit> unquoting_edit(const Value& value, std::string text) {
  if (!is_editable(value)) return std::nullopt;
  return Edit{value.span, std::move(text)};
}

std::optional<Edit> key_edit(const File& file, const Value& entry, std::string_view key) {
  if (entry.shared || entry.key_span.size() == 0 || !needs_no_escapes(key)) return std::nullopt;
  return Edit{entry.key_span, quoted(quote_of(file.parsed(), entry.key_span), key)};
}

std::optional<Edit> removal_edit(const File& file, const Value& mapping, const Value& entry) {
  if (mapping.shared || mapping.count < 2 || !is_editable(entry) || entry.key_span.size() == 0) return std::nullopt;
  return mapping.style == Style::block ? line_removal(file.parsed(), entry)
                                       : flow_removal(file.parsed(), mapping, entry);
}

std::optional<Edit> insertion_edit(const File& file, const Value& mapping, const Value& after, std::string_view key,
                                   std::string_view value) {
  const std::string_view text = file.parsed();
  if (mapping.shared || after.shared || after.key_span.size() == 0 || !needs_no_escapes(key) ||
      !needs_no_escapes(value)) {
    return std::nullopt;
  }
  const char quote = quote_of(text, after.key_span);
  const std::string entry = quoted(quote, key) + ": " + (is_number(value) ? std::string(value) : quoted(quote, value));
  const Span span = entry_of(after);
  if (mapping.style != Style::block) return Edit{{span.end, span.end}, ", " + entry};
  const std::uint32_t begin = line_begin(text, after.key_span.begin);
  std::string indent(text.substr(begin, after.key_span.begin - begin));
  // After the dash of a list item, all keys have the indentation of the first key.
  if (indent.find_first_not_of(" -") != indent.npos) return std::nullopt;
  std::ranges::replace(indent, '-', ' ');
  const std::uint32_t end = line_end(text, span.end);
  const bool carriage_return = text.substr(end).starts_with('\r');
  return Edit{{end, end}, (carriage_return ? "\r\n" : "\n") + indent + entry};
}

}  // namespace capstan::lint
