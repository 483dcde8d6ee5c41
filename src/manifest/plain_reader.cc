#include "manifest/plain_reader.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string>

#include "manifest/quoted_text.h"

namespace capstan::manifest {
namespace {

constexpr std::size_t kMaxKey = 256;  // bytes; YAML allows 1024 for a key on one line
constexpr int kOneLine = 1 << 30;     // indentation that no line has, so that a scalar ends with its line
constexpr int kMaxNesting = 100;      // collections inside each other; below the depth limit of documents

enum CharacterClass : std::uint8_t { kKey = 1, kFirst = 2, kStops = 4 };

/// Returns for every character the classes to which it belongs: it may begin a key, begin a plain scalar, or end a
/// plain scalar within braces.
constexpr std::array<std::uint8_t, 256> classes() {
  std::array<std::uint8_t, 256> table{};
  for (int c = 0; c < 256; ++c) {
    const bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (word || c == '_' || c == '.' || c == '/' || c == '$') table[c] |= kKey | kFirst;
    if (c == '(' || c == '+' || c == '~' || c == '<' || c == '=' || c == ';' || c == '^' || c == '\\' || c >= 0x80) {
      table[c] |= kFirst;
    }
    if (c == ',' || c == '[' || c == ']' || c == '{' || c == '}') table[c] |= kStops;
  }
  return table;
}
constexpr std::array<std::uint8_t, 256> kClasses = classes();

bool is(char c, CharacterClass wanted) { return (kClasses[static_cast<unsigned char>(c)] & wanted) != 0; }

/// Returns true if the text has line breaks other than `\n`, a byte order mark or a document end marker.
bool has_uncommon_syntax(std::string_view text) {
  const auto high = [](char c) { return static_cast<unsigned char>(c) >= 0x80; };
  if (text.find('\r') != text.npos || memmem(text.data(), text.size(), "\n...", 4) != nullptr ||
      text.starts_with("..."))
    return true;
  if (std::ranges::none_of(text, high)) return false;
  return text.find("\xc2\x85") != text.npos || text.find("\xe2\x80\xa8") != text.npos ||
         text.find("\xe2\x80\xa9") != text.npos || text.find("\xef\xbb\xbf") != text.npos;
}

class PlainReader {
 public:
  PlainReader(std::string_view text, std::uint32_t base, EmptyItems empty_items, DocumentBuilder& builder)
      : text_(text), base_(base), empty_items_(empty_items), builder_(builder) {}

  bool run() {
    if (text_.starts_with("---") && !(skip(3) && rest_is_empty())) return false;
    if (!next_line()) return false;
    const bool read = here() == '{' || here() == '[' ? json() : block(-1, 0);
    return read && !builder_.failed() && ended_;
  }

 private:
  // --- lines -------------------------------------------------------------------------------------------------------

  char here() const { return at_ < text_.size() ? text_[at_] : '\n'; }
  char after(std::size_t steps) const { return at_ + steps < text_.size() ? text_[at_ + steps] : '\n'; }
  bool skip(std::size_t bytes) {
    at_ += bytes;
    return true;
  }
  void skip_spaces() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  std::size_t line_end() const { return std::min(text_.find('\n', at_), text_.size()); }

  /// Moves to the end of the line if only blanks or a comment are left on it. A comment needs a space before it.
  bool rest_is_empty() {
    const std::size_t before = at_;
    skip_spaces();
    if (here() == '\n') return true;
    return here() == '#' && (at_ > before || at_ == 0 || text_[at_ - 1] == ' ') && find_line_end();
  }
  bool find_line_end() {
    at_ = line_end();
    return true;
  }

  /// Moves from the end of a line to the next line with content, or sets `ended_`. Returns false at a tab.
  bool next_line() {
    while (at_ < text_.size()) {
      if (text_[at_] != '\n' && at_ != 0 && text_[at_ - 1] != '\n') return false;
      if (text_[at_] == '\n') ++at_;
      line_ = at_;
      skip_spaces();
      if (here() == '#') find_line_end();
      if (here() == '\t') return false;
      if (here() == '\n') continue;
      indent_ = static_cast<int>(at_ - line_);
      return true;
    }
    ended_ = true;
    indent_ = -1;
    return true;
  }

  // --- block collections -------------------------------------------------------------------------------------------

  bool at_dash() const { return here() == '-' && (after(1) == ' ' || after(1) == '\n'); }

  /// Reads a mapping or list that begins on this line and is indented deeper than `parent`.
  bool block(int parent, int depth) {
    if (depth > kMaxNesting || indent_ <= parent) return false;
    return at_dash() ? sequence(indent_, depth) : mapping(indent_, depth);
  }

  bool mapping(int indent, int depth) {
    if (depth > kMaxNesting) return false;
    builder_.open(Form::mapping, Style::block, span(at_, at_));
    do {
      if (at_dash() || !key() || !value(indent, depth)) return false;
    } while (!ended_ && indent_ == indent);
    if (indent_ > indent) return false;
    builder_.close(0);
    return true;
  }

  /// Reads the value after the colon of a key.
  bool value(int indent, int depth) {
    const std::uint32_t empty_at = last_end_;
    skip_spaces();
    if (here() != '\n' && here() != '#') return inline_value(indent, depth);
    if (!rest_is_empty() || !next_line()) return false;
    if (!ended_ && indent_ == indent && at_dash()) return sequence(indent, depth + 1);
    if (!ended_ && indent_ > indent) return block(indent, depth + 1);
    scalar(Style::plain, {empty_at, empty_at}, {});
    return true;
  }

  bool sequence(int indent, int depth) {
    if (depth > kMaxNesting) return false;
    builder_.open(Form::sequence, Style::block, span(at_, at_));
    do {
      if (!item(indent, depth)) return false;
    } while (!ended_ && indent_ == indent && at_dash());
    if (indent_ > indent) return false;
    builder_.close(0);
    return true;
  }

  bool item(int indent, int depth) {
    const std::uint32_t empty_at = base_ + static_cast<std::uint32_t>(++at_);
    skip_spaces();
    if (here() == '\n' || here() == '#') {
      if (!rest_is_empty() || !next_line()) return false;
      if (!ended_ && indent_ > indent) return block(indent, depth + 1);
      if (empty_items_ == EmptyItems::refuse) return false;
      scalar(Style::plain, {empty_at, empty_at}, {});
      return true;
    }
    const int column = static_cast<int>(at_ - line_);
    if (at_dash()) {
      indent_ = column;
      return sequence(column, depth + 1);
    }
    if (key_ends()) {
      indent_ = column;
      return mapping(column, depth + 1);
    }
    return inline_value(indent, depth);
  }

  // --- keys --------------------------------------------------------------------------------------------------------

  /// Returns the end of the key that begins here, or nothing if there is no key.
  std::optional<std::size_t> key_ends() const {
    const char quote = here();
    const std::size_t limit = std::min(text_.size(), at_ + kMaxKey);
    if (quote == '"' || quote == '\'') {
      const std::size_t end = text_.find_first_of("\"'\\\n", at_ + 1);
      if (end >= limit || text_[end] != quote) return std::nullopt;
      return colon_at(end + 1) ? std::optional(end + 1) : std::nullopt;
    }
    if (!is(quote, kKey)) return std::nullopt;
    for (std::size_t i = at_ + 1; i < limit && text_[i] != '\n' && text_[i] != '\t'; ++i) {
      if (text_[i] == '#' && text_[i - 1] == ' ') return std::nullopt;
      if (colon_at(i)) return text_[i - 1] == ' ' ? std::nullopt : std::optional(i);
    }
    return std::nullopt;
  }

  bool colon_at(std::size_t at) const {
    return at < text_.size() && text_[at] == ':' &&
           (at + 1 == text_.size() || text_[at + 1] == ' ' || text_[at + 1] == '\n');
  }

  bool key() {
    const std::optional<std::size_t> end = key_ends();
    if (!end) return false;
    const bool quoted = !is(here(), kKey);
    const std::string_view words = text_.substr(at_, *end - at_);
    if (words == "<<") return false;
    const Style style = !quoted ? Style::plain : here() == '"' ? Style::double_quoted : Style::single_quoted;
    scalar(style, span(at_, *end), quoted ? words.substr(1, words.size() - 2) : words);
    last_end_ = base_ + static_cast<std::uint32_t>(quoted ? *end - 1 : *end);
    at_ = *end + 1;
    return true;
  }

  // --- values that begin on the line of their key ------------------------------------------------------------------

  bool inline_value(int indent, int depth) {
    switch (here()) {
      case '"':
      case '\'':
        return quoted(indent) && rest_is_empty() && next_line();
      case '|':
        return literal(indent);
      case '{':
      case '[':
        return flow(depth + 1, false) && rest_is_empty() && next_line();
      default:
        return plain(indent);
    }
  }

  bool quoted(int indent) {
    if (here() == '\'') return single_quoted(indent);
    const std::size_t end = text_.find_first_of("\"\\\n\t", at_ + 1);
    if (end == text_.npos) return false;
    if (text_[end] == '\\') return double_quoted_with_escapes(end);
    if (text_[end] != '"') return false;
    scalar(Style::double_quoted, span(at_, end + 1), text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return true;
  }

  bool single_quoted(int indent) {
    std::size_t end = at_ + 1;
    bool is_verbatim = true;
    for (; (end = text_.find_first_of("'\n\t", end)) != text_.npos; ++end) {
      if (text_[end] == '\t') return false;
      if (text_[end] == '\n' && !is_deeper(end + 1, indent)) return false;
      if (text_[end] == '\'') {
        if (end + 1 == text_.size() || text_[end + 1] != '\'') break;
        ++end;
      }
      is_verbatim = false;
    }
    if (end == text_.npos) return false;
    const std::string_view inside = text_.substr(at_ + 1, end - at_ - 1);
    scalar(Style::single_quoted, span(at_, end + 1), is_verbatim ? inside : builder_.store(single_quoted_text(inside)));
    at_ = end + 1;
    return true;
  }

  /// Returns true if a line is empty or indented deeper than `indent`.
  bool is_deeper(std::size_t line, int indent) const {
    const std::size_t first = std::min(text_.find_first_not_of(' ', line), text_.size());
    return first < text_.size() && (text_[first] == '\n' || static_cast<int>(first - line) > indent);
  }

  /// Reads a double-quoted scalar whose first backslash is at `first`.
  bool double_quoted_with_escapes(std::size_t first) {
    std::string words(text_.substr(at_ + 1, first - at_ - 1));
    for (std::size_t i = first; i < text_.size(); ++i) {
      const char c = text_[i];
      if (c == '\n' || c == '\t') return false;
      if (c == '"') {
        scalar(Style::double_quoted, span(at_, i + 1), builder_.store(std::move(words)));
        at_ = i + 1;
        return true;
      }
      if (c != '\\') {
        words += c;
        continue;
      }
      const char escaped = ++i < text_.size() ? text_[i] : '\n';
      if (escaped == 'n') {
        words += '\n';
      } else if (escaped == 't') {
        words += '\t';
      } else if (escaped == '"' || escaped == '\\' || escaped == '/') {
        words += escaped;
      } else {
        return false;
      }
    }
    return false;
  }

  bool plain(int indent) {
    if (!is(here(), kFirst) && !(here() == '-' && after(1) != ' ' && after(1) != '\n')) return false;
    const std::optional<std::size_t> end = plain_line_end(at_);
    if (!end) return false;
    const std::size_t begin = at_;
    at_ = *end;
    std::size_t next = 0;
    if (rest_is_empty() && *end == end_unless_comment(*end) && continues(indent, next)) {
      return plain_lines(indent, begin, *end);
    }
    scalar(Style::plain, span(begin, *end), text_.substr(begin, *end - begin));
    return next_line();
  }

  /// Returns the end of a plain scalar on this line, or nothing if it contains other syntax.
  std::optional<std::size_t> plain_line_end(std::size_t begin) const {
    std::size_t end = begin;
    for (std::size_t i = begin; i < text_.size() && text_[i] != '\n'; ++i) {
      const char c = text_[i];
      if (c == '\t') return std::nullopt;
      if (c == ':' && colon_at(i)) return std::nullopt;
      if (c == '#' && i > begin && text_[i - 1] == ' ') break;
      if (c != ' ') end = i + 1;
    }
    return end;
  }

  /// Returns `end` if no comment follows on the line, else npos.
  std::size_t end_unless_comment(std::size_t end) const {
    const std::size_t first = text_.find_first_not_of(' ', end);
    return first == text_.npos || text_[first] == '\n' ? end : text_.npos;
  }

  /// Returns true if a plain scalar continues on the next line that is not empty. A comment ends it.
  bool continues(int indent, std::size_t& next) const {
    std::size_t i = at_;
    while (i < text_.size() && text_[i] == '\n') {
      const std::size_t line = i + 1;
      i = std::min(text_.find_first_not_of(' ', line), text_.size());
      if (i < text_.size() && text_[i] == '\n') continue;
      next = i;
      return i < text_.size() && text_[i] != '#' && static_cast<int>(i - line) > indent;
    }
    return false;
  }

  /// Reads a plain scalar of several lines: a line break becomes a space, an empty line a line break.
  bool plain_lines(int indent, std::size_t begin, std::size_t end) {
    std::string words(text_.substr(begin, end - begin));
    std::size_t next = 0;
    while (continues(indent, next)) {
      const auto breaks = std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_),
                                     text_.begin() + static_cast<std::ptrdiff_t>(next), '\n');
      const std::optional<std::size_t> line_ends = plain_line_end(next);
      if (!line_ends || end_unless_comment(*line_ends) == text_.npos) return false;
      breaks == 1 ? words.append(1, ' ') : words.append(static_cast<std::size_t>(breaks - 1), '\n');
      words += text_.substr(next, *line_ends - next);
      end = *line_ends;
      at_ = end;
      skip_spaces();
    }
    scalar(Style::plain, span(begin, end), builder_.store(std::move(words)));
    return next_line();
  }

  // --- literal blocks ----------------------------------------------------------------------------------------------

  struct Literal {
    std::string words;
    std::size_t end = 0;     ///< end of the last line that is not blank
    std::size_t breaks = 0;  ///< line breaks since `end`
  };

  bool literal(int indent) {
    const std::size_t begin = at_++;
    const char chomp = here() == '-' || here() == '+' ? here() : ' ';
    if (chomp != ' ') ++at_;
    if (!rest_is_empty()) return false;
    Literal block;
    if (!literal_lines(indent, block) || block.words.empty() || text_.back() != '\n') return false;
    if (chomp == ' ' && block.breaks > 0) block.words += '\n';
    if (chomp == '+') block.words.append(block.breaks, '\n');
    scalar(Style::literal, span(begin, block.end), builder_.store(std::move(block.words)));
    return next_line();
  }

  /// Reads up to the first line after the block. Returns false for a block that starts with blank lines, and for other
  /// uncommon indentation.
  bool literal_lines(int indent, Literal& block) {
    std::size_t depth = 0;  // indentation of the block's lines
    while (at_ < text_.size()) {
      const std::size_t line = at_ + 1;
      if (line >= text_.size()) {
        at_ = text_.size();
        break;
      }
      const std::size_t first = std::min(text_.find_first_not_of(' ', line), text_.size());
      const std::size_t column = first - line;
      const bool blank = first == text_.size() || text_[first] == '\n';
      if (blank && (depth == 0 || column > depth)) return false;
      if (!blank && depth == 0) {
        if (static_cast<int>(column) <= indent || text_[first] == '\t') return false;
        depth = column;
      }
      if (!blank && column < depth) {
        if (static_cast<int>(column) > indent || text_[first] == '#' || text_[first] == '\t') return false;
        break;
      }
      at_ = std::min(text_.find('\n', line), text_.size());
      if (!blank && !literal_line(line + depth, block)) return false;
      if (blank && at_ < text_.size()) ++block.breaks;
    }
    return true;
  }

  bool literal_line(std::size_t begin, Literal& block) {
    const std::string_view words = text_.substr(begin, at_ - begin);
    if (words.back() == ' ' || words.back() == '\t') return false;
    if (!block.words.empty()) block.words.append(block.breaks, '\n');
    block.words += words;
    block.end = at_;
    block.breaks = at_ < text_.size() ? 1 : 0;
    return true;
  }

  // --- braces ------------------------------------------------------------------------------------------------------

  bool json() { return flow(0, true) && rest_is_empty() && next_line(); }

  /// Skips blanks between tokens within braces. Line breaks are allowed only if the whole document is within braces.
  bool skip_blanks(bool lines) {
    skip_spaces();
    while (lines && at_ < text_.size() && text_[at_] == '\n') {
      ++at_;
      skip_spaces();
    }
    return at_ < text_.size() && text_[at_] != '\n' && text_[at_] != '#';
  }

  bool flow(int depth, bool lines) {
    if (depth > kMaxNesting) return false;
    const bool is_mapping = here() == '{';
    const char close = is_mapping ? '}' : ']';
    builder_.open(is_mapping ? Form::mapping : Form::sequence, Style::flow, span(at_, at_ + 1));
    ++at_;
    if (!skip_blanks(lines)) return false;
    while (here() != close) {
      if (is_mapping && !(flow_key() && skip_blanks(lines))) return false;
      if (!flow_value(depth, lines) || !skip_blanks(lines)) return false;
      if (here() == close) break;
      if (here() != ',') return false;
      ++at_;
      if (!skip_blanks(lines) || here() == close) return false;
    }
    ++at_;
    builder_.close(base_ + static_cast<std::uint32_t>(at_));
    return true;
  }

  bool flow_value(int depth, bool lines) {
    if (here() == '{' || here() == '[') return flow(depth + 1, lines);
    if (here() == '"' || here() == '\'') {
      if (!quoted(kOneLine)) return false;
      skip_spaces();
      return here() != ':';
    }
    const std::size_t end = flow_word_end();
    if (end == at_ || colon_in_flow(end)) return false;
    scalar(Style::plain, span(at_, end), text_.substr(at_, end - at_));
    at_ = end;
    return true;
  }

  bool flow_key() {
    const bool in_quotes = here() == '"' || here() == '\'';
    if (in_quotes) {
      const std::optional<std::size_t> end = quoted_key_end();
      if (!end) return false;
      const Style style = here() == '"' ? Style::double_quoted : Style::single_quoted;
      scalar(style, span(at_, *end), text_.substr(at_ + 1, *end - at_ - 2));
      at_ = *end;
    } else {
      const std::size_t end = flow_word_end();
      if (end == at_ || end - at_ > kMaxKey || !is(here(), kKey) || text_.substr(at_, end - at_) == "<<") return false;
      scalar(Style::plain, span(at_, end), text_.substr(at_, end - at_));
      at_ = end;
    }
    if (here() != ':' || (!in_quotes && after(1) != ' ')) return false;
    ++at_;
    return true;
  }

  std::optional<std::size_t> quoted_key_end() const {
    const std::size_t end = text_.find_first_of("\"'\\\n\t", at_ + 1);
    if (end == text_.npos || text_[end] != here() || end - at_ > kMaxKey) return std::nullopt;
    return end + 1;
  }

  /// Returns the end of a plain scalar within braces. Returns `at_` if it has several lines or contains other syntax.
  std::size_t flow_word_end() const {
    if (!is(here(), kFirst) && !(here() == '-' && (after(1) == '-' || is(after(1), kKey)))) return at_;
    std::size_t end = at_;
    for (std::size_t i = at_; i < text_.size() && text_[i] != '\n' && !is(text_[i], kStops); ++i) {
      const char c = text_[i];
      if (c == '\t' || c == '#' || c == '"' || c == '\'') return at_;
      if (c == ':' &&
          (i + 1 >= text_.size() || text_[i + 1] == ' ' || text_[i + 1] == '\n' || is(text_[i + 1], kStops)))
        break;
      if (c != ' ') end = i + 1;
    }
    return end;
  }

  bool colon_in_flow(std::size_t at) const { return at < text_.size() && text_[at] == ':'; }

  // --- events ------------------------------------------------------------------------------------------------------

  Span span(std::size_t begin, std::size_t end) const {
    return {base_ + static_cast<std::uint32_t>(begin), base_ + static_cast<std::uint32_t>(end)};
  }

  void scalar(Style style, Span where, std::string_view words) {
    Value value;
    value.form = Form::scalar;
    value.style = style;
    value.span = where;
    value.text = words;
    builder_.scalar(value);
  }

  const std::string_view text_;
  const std::uint32_t base_;
  const EmptyItems empty_items_;
  DocumentBuilder& builder_;
  std::size_t at_ = 0;
  std::size_t line_ = 0;        ///< start of the current line
  int indent_ = 0;              ///< indentation of the current line, or of the content after its dashes
  bool ended_ = false;          ///< true if the document has no more lines
  std::uint32_t last_end_ = 0;  ///< end of the last key, which is the place of an empty value
};

}  // namespace

bool read_plain(std::string_view text, std::uint32_t base, DocumentBuilder& builder, EmptyItems empty_items) {
  return !has_uncommon_syntax(text) && PlainReader(text, base, empty_items, builder).run();
}

}  // namespace capstan::manifest
