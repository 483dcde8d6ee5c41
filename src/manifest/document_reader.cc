#include "manifest/document_reader.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include "manifest/document_builder.h"
#include "manifest/fyaml_reader.h"
#include "manifest/plain_reader.h"

namespace capstan::manifest {
namespace {

bool is_blank(std::string_view line) { return line.find_first_not_of(" \t\r\n") == line.npos; }

/// Returns true if the text has only comments, directives and empty lines.
bool is_empty_document(std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    const std::size_t first = line.find_first_not_of(" \t\r");
    const bool is_empty = first == line.npos || line[first] == '#' || (first == 0 && line[0] == '%') ||
                          (first == 0 && line.starts_with("---") && is_blank(line.substr(3)));
    if (!is_empty) return false;
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
  return true;
}

/// Returns the end of the JSON object that begins at `at`, or `npos` if it does not end or uses YAML syntax.
std::size_t end_of_json(std::string_view text, std::size_t at) {
  std::size_t depth = 0;
  while ((at = text.find_first_of("{}[]\"'#", at)) != text.npos) {
    const char c = text[at++];
    if (c == '\'' || c == '#') return text.npos;
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') {
      if (--depth == 0) return at;
    }
    if (c != '"') continue;
    while ((at = text.find_first_of("\"\\", at)) != text.npos && text[at] == '\\') at += 2;
    if (at == text.npos) return text.npos;
    ++at;
  }
  return text.npos;
}

/// Returns the start of every JSON object in a sequence of objects, as `kubectl -o json` and logs write them.
std::vector<std::uint32_t> json_starts(std::string_view text, std::size_t first) {
  std::vector<std::uint32_t> starts;
  for (std::size_t at = first; at != text.npos && text[at] == '{';) {
    starts.push_back(starts.empty() ? 0 : static_cast<std::uint32_t>(at));
    const std::size_t end = end_of_json(text, at);
    if (end == text.npos) break;
    at = text.find_first_not_of(" \t\r\n", end);
  }
  return starts;
}

/// Returns the start of every document. A line that begins with the marker `---`, followed by a blank or the end of the
/// line, always starts a document.
std::vector<std::uint32_t> document_starts(std::string_view text) {
  if (const std::size_t first = text.find_first_not_of(" \t\r\n"); first != text.npos && text[first] == '{') {
    std::vector<std::uint32_t> objects = json_starts(text, first);
    if (objects.size() > 1) return objects;
  }
  std::vector<std::uint32_t> starts{0};
  const auto marker_after = [&](std::size_t from) {
    const void* found = from < text.size() ? memmem(text.data() + from, text.size() - from, "\n---", 4) : nullptr;
    return found == nullptr ? text.npos : static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
  };
  for (std::size_t at = text.starts_with("---") ? 0 : marker_after(0); at != text.npos; at = marker_after(at + 1)) {
    const std::size_t begin = text[at] == '\n' ? at + 1 : at;
    const bool marker = begin + 3 >= text.size() || std::strchr(" \t\r\n", text[begin + 3]) != nullptr;
    if (marker && begin > 0) starts.push_back(static_cast<std::uint32_t>(begin));
  }
  return starts;
}

/// Returns true if a line has only dashes, which is an empty list item. libfyaml 0.7.12 refuses empty items in a list
/// that is not indented.
bool has_empty_item(std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    const std::size_t words = std::min(line.find_first_not_of(" -"), line.size());
    const bool no_value = words == line.size() || std::strchr("#\t\r", line[words]) != nullptr;
    if (no_value && line.substr(0, words).find('-') != line.npos) return true;
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
  return false;
}

/// Returns the indentation of the innermost collection that starts on this line: the column of its first key or item,
/// or of the dash before a block scalar.
std::size_t indent_of(std::string_view line) {
  std::size_t at = line.find_first_not_of(' ');
  while (at != line.npos && line.substr(at).starts_with("- ")) {
    const std::size_t next = line.find_first_not_of(' ', at + 1);
    if (next == line.npos || line[next] == '|' || line[next] == '>') break;
    at = next;
  }
  return at;
}

/// Returns true if the line begins a block scalar, such as `key: |` or `- >-`.
bool begins_block(std::string_view line) {
  if (const std::size_t comment = line.find(" #"); comment != line.npos) line = line.substr(0, comment);
  while (!line.empty() && std::strchr(" \r+-", line.back()) != nullptr) line.remove_suffix(1);
  const bool header = line.ends_with('|') || line.ends_with('>');
  return header && line.size() > 1 && line[line.size() - 2] == ' ';
}

/// Replaces comments after an empty block scalar with blanks. libfyaml 0.7.12 takes such a comment for the first line
/// of the block. Returns nothing if there is no such comment.
std::optional<std::string> without_comments_in_empty_blocks(std::string_view text) {
  std::optional<std::string> out;
  std::size_t block = text.npos;  // indentation above which a line belongs to the current block
  bool empty = true;              // the current block has no line yet
  for (std::size_t begin = 0, end = 0; begin < text.size(); begin = end + 1) {
    end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    const std::size_t first = line.find_first_not_of(' ');
    if (is_blank(line)) continue;
    if (block != text.npos && first > block) {
      empty = false;
    } else if (block != text.npos && empty && line[first] == '#') {
      if (!out) out.emplace(text);
      std::fill_n(out->begin() + static_cast<std::ptrdiff_t>(begin + first), line.size() - first, ' ');
    } else {
      block = begins_block(line) ? indent_of(line) : text.npos;
      empty = true;
    }
  }
  return out;
}

/// Returns an error for a tab that indents the line of a fault or the next line. The tab is the cause, and the message
/// of libfyaml describes only its consequence.
std::optional<Fault> indenting_tab(std::string_view text, const Fault& fault) {
  std::size_t line = fault.span.begin == 0 ? 0 : text.rfind('\n', fault.span.begin - 1) + 1;
  for (int i = 0; i < 2 && line < text.size(); ++i) {
    const std::size_t first = text.find_first_not_of(' ', line);
    if (first != text.npos && text[first] == '\t') {
      const auto begin = static_cast<std::uint32_t>(first);
      return Fault{Fault::Kind::syntax, {begin, begin + 1}, "not YAML: a tab indents this line, expected spaces"};
    }
    line = std::min(text.find('\n', line), text.size()) + 1;
  }
  return std::nullopt;
}

/// Reads one document. The plain reader is several times faster than libfyaml but knows only a part of YAML, so
/// libfyaml reads what the plain reader refuses. A syntax error has the message of libfyaml, unless the cause is a
/// forbidden byte or an indenting tab.
void read_document(std::string_view text, Span chunk, FirstReader first, DocumentBuilder& builder) {
  std::string_view part = text.substr(chunk.begin, chunk.size());
  if (is_empty_document(part)) return;
  builder.begin(chunk);
  std::uint32_t base = chunk.begin;
  if (const std::optional<Fault> fault = forbidden_byte(part)) {
    builder.fail({base + fault->span.begin, base + fault->span.end}, fault->message);
    return builder.finish();
  }
  if (part.starts_with("\xef\xbb\xbf")) {
    part.remove_prefix(3);
    base += 3;
  }
  if (first == FirstReader::libfyaml || !read_plain(part, base, builder)) {
    builder.begin(chunk);
    const std::optional<std::string> repaired = without_comments_in_empty_blocks(part);
    read_with_libfyaml(repaired ? std::string_view(*repaired) : part, base, builder);
    std::optional<Fault> fault = builder.fault();
    if (!fault) return builder.finish();
    builder.begin(chunk);
    if (has_empty_item(part) && read_plain(part, base, builder, EmptyItems::read)) return builder.finish();
    if (fault->kind == Fault::Kind::syntax) fault = indenting_tab(text, *fault).value_or(*fault);
    builder.begin(chunk);
    builder.fail(fault->span, fault->message, fault->kind);
  }
  builder.finish();
}

}  // namespace

Documents read_documents(std::string_view text, const DocumentLimits& limits, FirstReader first) {
  Documents documents;
  DocumentBuilder builder(text, limits, documents);
  const auto size = static_cast<std::uint32_t>(std::min<std::size_t>(text.size(), UINT32_MAX));
  if (text.size() > limits.bytes) {
    builder.begin({0, size});
    builder.fail({0, 0}, "is larger than " + std::to_string(limits.bytes >> 20) + " MiB");
    builder.finish();
    return documents;
  }
  const std::vector<std::uint32_t> starts = document_starts(text);
  for (std::size_t i = 0; i < starts.size(); ++i) {
    read_document(text, {starts[i], i + 1 < starts.size() ? starts[i + 1] : size}, first, builder);
  }
  return documents;
}

}  // namespace capstan::manifest
