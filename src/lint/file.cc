#include "lint/file.h"

#include <algorithm>
#include <utility>

#include "base/ascii.h"
#include "lint/contains.h"

namespace capstan::lint {

namespace {

/// Returns the place of a part of a literal block. Only the source of the block is indented, not its value.
Span part_of_literal(std::string_view source, const Value& value, std::size_t offset, std::size_t size) {
  std::size_t line_start = value.text.rfind('\n', offset == 0 ? 0 : offset - 1);
  if (offset == 0 || line_start == std::string_view::npos)
    line_start = 0;
  else
    ++line_start;
  const auto lines_before =
      std::count(value.text.begin(), value.text.begin() + static_cast<std::ptrdiff_t>(line_start), '\n');
  std::size_t at = source.find('\n', value.span.begin);
  for (std::ptrdiff_t i = 0; i < lines_before && at != source.npos; ++i) at = source.find('\n', at + 1);
  if (at == source.npos) return value.span;
  const std::string_view part = value.text.substr(offset, size);
  const std::size_t found = source.find(part, at + 1);
  if (found == source.npos || found + size > value.span.end) return value.span;
  // The same words may occur earlier in the line, so the indentation determines where the value begins.
  const std::size_t line_end = std::min(source.find('\n', at + 1), source.size());
  const std::size_t content = value.text.find('\n', line_start);
  const std::size_t length = (content == std::string_view::npos ? value.text.size() : content) - line_start;
  const std::size_t carriage = line_end > 0 && source[line_end - 1] == '\r' ? 1 : 0;
  const std::size_t indent = line_end - carriage - (at + 1) >= length ? line_end - carriage - (at + 1) - length : 0;
  const auto begin = static_cast<std::uint32_t>(at + 1 + indent + (offset - line_start));
  const auto end = static_cast<std::uint32_t>(begin + size);
  if (end <= source.size() && source.substr(begin, size) == part) return {begin, end};
  return {static_cast<std::uint32_t>(found), static_cast<std::uint32_t>(found + size)};
}

/// Returns the comment at the head of a text, converted to lower case.
std::string head_comment(std::string_view text) {
  std::string comment;
  while (text.starts_with('#') || text.starts_with('\n') || text.starts_with("---")) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    comment.append(text.substr(0, end));
    comment += ' ';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  std::ranges::transform(comment, comment.begin(), ascii_lower);
  return comment;
}

/// Returns true if a sentence forbids only some cases: "do not apply this together with hpa.yaml".
bool is_conditional(std::string_view sentence) {
  for (const std::string_view word :
       {"together", "alongside", " both ", "at the same time", "before", "until", "unless", "without", " if "}) {
    if (sentence.find(word) != sentence.npos) return true;
  }
  return false;
}

bool says_not_to_apply(std::string_view text) {
  const std::string comment = head_comment(text);
  for (const std::string_view words : {"do not apply", "do not deploy", "don't apply", "is not applied"}) {
    const std::size_t begin = comment.find(words);
    if (begin == comment.npos) continue;
    const std::size_t end = std::min(comment.find(". ", begin), comment.size());
    if (!is_conditional(std::string_view(comment).substr(begin, end - begin))) return true;
  }
  return false;
}

}  // namespace

File::File(std::string path_in, std::string text_in)
    : path(std::move(path_in)),
      text(std::move(text_in)),
      has_acceptances(contains(text, kAcceptance)),
      is_not_applied(says_not_to_apply(text)) {}

const manifest::LineTable& File::lines() const {
  std::call_once(lines_made_, [&] { lines_.emplace(text); });
  return *lines_;
}

Span part_of(const File& file, const Value& value, std::size_t offset, std::size_t size) {
  const std::string_view source = file.parsed();
  if (offset + size > value.text.size()) return value.span;
  const char* data = value.text.data();
  if (data >= source.data() && data + value.text.size() <= source.data() + source.size()) {
    const auto begin = static_cast<std::uint32_t>(data - source.data() + static_cast<std::ptrdiff_t>(offset));
    return {begin, begin + static_cast<std::uint32_t>(size)};
  }
  if (value.style == manifest::Style::literal) return part_of_literal(source, value, offset, size);
  const std::string_view part = value.text.substr(offset, size);
  const std::size_t found = size == 0 ? source.npos : source.find(part, value.span.begin);
  if (found == source.npos || found + size > value.span.end) return value.span;
  return {static_cast<std::uint32_t>(found), static_cast<std::uint32_t>(found + size)};
}

Span entry_of(const Value& value) {
  if (value.key_span.size() == 0) return value.span;
  return {value.key_span.begin, value.shared ? value.key_span.end : std::max(value.key_span.end, value.span.end)};
}

}  // namespace capstan::lint
