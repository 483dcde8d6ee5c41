#include "manifest/json.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "base/assert.h"
#include "base/utf8.h"
#include "manifest/utf8.h"

namespace capstan::manifest {
namespace {

/// Largest number of keys in a mapping. It bounds the cost of the search for repeated keys, which compares every key
/// with all earlier ones.
constexpr std::size_t kMaxJsonKeys = 4096;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Returns true if `word` is a number of JSON.
bool is_number(std::string_view word) {
  std::size_t at = word.starts_with('-') ? 1 : 0;
  const auto digits = [&] {
    const std::size_t begin = at;
    while (at < word.size() && is_digit(word[at])) ++at;
    return at > begin;
  };
  const bool leading_zero = word.substr(at).starts_with('0');
  const std::size_t whole = at;
  if (!digits() || (leading_zero && at > whole + 1)) return false;
  if (at < word.size() && word[at] == '.') {
    ++at;
    if (!digits()) return false;
  }
  if (at < word.size() && (word[at] == 'e' || word[at] == 'E')) {
    ++at;
    if (at < word.size() && (word[at] == '+' || word[at] == '-')) ++at;
    if (!digits()) return false;
  }
  return at == word.size();
}

/// Reads or skips one value after the other. Skipping checks the same syntax as reading, so a skipped row can be read
/// later without an error.
class JsonReader {
 public:
  JsonReader(std::string_view text, const Place& start, std::size_t max_values)
      : text_(text), place_(start), max_values_(max_values) {}

  /// Reads the top-level mapping, whose lists named in `lists` are left as text.
  bool read_root(JsonFile& out, std::span<const std::string_view> lists) {
    skip_space();
    out.root.kind = Node::Kind::mapping;
    out.root.place = place();
    if (!peek('{')) return fail("expected a mapping");
    const bool read = mapping(&out.root, [&](const std::string& key, Node& value) {
      const bool stays_text = std::ranges::find(lists, key) != lists.end() && peek('[');
      return stays_text ? rows(out.rows[key], value) : this->value(&value);
    });
    if (!read) return false;
    skip_space();
    return at_ == text_.size() || fail("expected the end of the file");
  }

  /// Reads the value of one key of a mapping and skips the others.
  bool read_member(Node& out, std::string_view key) {
    if (!peek('{')) return value(&out);
    out.kind = Node::Kind::mapping;
    out.place = place();
    return mapping(&out, [&](const std::string& found, Node& inner) { return value(found == key ? &inner : nullptr); });
  }

  /// @param out  null: the value is skipped
  bool value(Node* out) {
    if (++values_ > max_values_) return fail(too_many_values(max_values_));
    if (at_ == text_.size()) return fail("expected a value, found the end of the file");
    if (out != nullptr) out->place = place_of_value();
    switch (text_[at_]) {
      case '{':
        if (out != nullptr) out->kind = Node::Kind::mapping;
        return nested([&] { return mapping(out, [this](const std::string&, Node& inner) { return value(&inner); }); });
      case '[':
        if (out != nullptr) out->kind = Node::Kind::sequence;
        return nested([&] { return sequence(out); });
      case '"':
        if (out != nullptr) out->quoted = true;
        return string(out == nullptr ? nullptr : &out->text);
      default:
        return word(out);
    }
  }

  Error error() const { return error_at(fault_place_, "not JSON: " + fault_); }

 private:
  template <typename Read>
  bool nested(Read read) {
    if (++depth_ > kMaxYamlDepth) {
      return fail("values are nested more than " + std::to_string(kMaxYamlDepth) + " deep");
    }
    const bool is_read = read();
    --depth_;
    return is_read;
  }

  /// @param read  reads the value of a key
  template <typename Read>
  bool mapping(Node* out, Read read) {
    const std::size_t first_key = keys_.size();
    ++at_;
    skip_space();
    for (bool more = !take('}'); more;) {
      const Place key_place = out == nullptr ? Place() : place_of_value();
      if (!peek('"')) return fail("expected a key in double quotes");
      const std::size_t begin = at_ + 1;
      if (!string(nullptr)) return false;
      const std::string_view key = text_.substr(begin, at_ - 1 - begin);
      if (key.find('\\') != key.npos) return fail("expected a key without escapes");
      for (std::size_t i = first_key; i < keys_.size(); ++i) {
        if (keys_[i] == key) return fail("key \"" + std::string(key) + "\" is given twice");
      }
      if (keys_.size() - first_key >= kMaxJsonKeys) return fail("the mapping has too many keys");
      keys_.push_back(key);
      skip_space();
      if (!take(':')) return fail("expected a colon");
      skip_space();
      if (out == nullptr) {
        if (!value(nullptr)) return false;
      } else {
        Node::Entry& entry = out->entries.emplace_back(std::string(key), key_place, Node{});
        if (!read(entry.key, entry.value)) return false;
      }
      skip_space();
      more = take(',');
      if (!more && !take('}')) return fail("expected a comma or the end of the mapping");
      if (more) skip_space();
    }
    keys_.resize(first_key);
    return true;
  }

  bool sequence(Node* out) {
    return elements([&] { return value(out == nullptr ? nullptr : &out->items.emplace_back()); });
  }

  bool rows(std::vector<JsonRow>& out, Node& list) {
    list.kind = Node::Kind::sequence;
    list.place = place();
    const std::size_t values = values_;
    return elements([&] {
      values_ = 0;
      if (out.size() == max_values_) return fail(too_many_values(max_values_));
      const std::size_t begin = at_;
      out.push_back({{}, place()});  // the place of the first character of the row's text
      if (!value(nullptr)) return false;
      out.back().text = text_.substr(begin, at_ - begin);
      values_ = values;
      return true;
    });
  }

  template <typename Read>
  bool elements(Read read) {
    ++at_;
    skip_space();
    for (bool more = !take(']'); more;) {
      if (!read()) return false;
      skip_space();
      more = take(',');
      if (!more && !take(']')) return fail("expected a comma or the end of the list");
      if (more) skip_space();
    }
    return true;
  }

  /// Reads a string, whose first character is its quote.
  bool string(std::string* out) {
    std::size_t begin = ++at_;  // start of the characters that are not in `out` yet
    const auto flush = [&] {
      if (out != nullptr) out->append(text_.substr(begin, at_ - begin));
    };
    while (at_ < text_.size()) {
      const auto byte = static_cast<unsigned char>(text_[at_]);
      if (byte == '"') {
        flush();
        ++at_;
        return true;
      }
      if (byte == '\\') {
        flush();
        ++at_;
        if (!escape(out)) return false;
        begin = at_;
      } else if (byte >= 0x80) {
        const std::size_t length = utf8_length(text_.substr(at_));
        if (length == 0) return fail("is not valid UTF-8");
        at_ += length;
      } else if (byte < 0x20 || byte == 0x7f) {
        return fail("contains a control character");
      } else {
        ++at_;
      }
    }
    return fail("expected the end of a string, found the end of the file");
  }

  bool escape(std::string* out) {
    constexpr std::string_view kLetters = "\"\\/bfnrt", kCharacters = "\"\\/\b\f\n\r\t";
    if (at_ == text_.size()) return fail("expected an escape, found the end of the file");
    const std::size_t letter = kLetters.find(text_[at_]);
    if (letter != kLetters.npos) {
      ++at_;
      if (out != nullptr) *out += kCharacters[letter];
      return true;
    }
    const std::optional<std::uint32_t> high = code_unit();
    std::uint32_t code = high.value_or(0);
    if (high && code >= 0xd800 && code < 0xdc00 && text_.substr(at_).starts_with('\\')) {
      ++at_;
      const std::uint32_t low = code_unit().value_or(0);
      code = low >= 0xdc00 && low < 0xe000 ? 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00) : 0;
    }
    if (code == 0 || (code >= 0xd800 && code < 0xe000)) return fail("expected an escape of JSON for a character");
    if (out != nullptr) append_utf8(*out, code);
    return true;
  }

  /// Reads the part of a Unicode escape after its backslash: "u00e9".
  std::optional<std::uint32_t> code_unit() {
    if (text_.size() - at_ < 5 || text_[at_] != 'u') return std::nullopt;
    std::uint32_t code = 0;
    for (std::size_t i = 1; i < 5; ++i) {
      const char c = text_[at_ + i];
      const char lower = static_cast<char>(c | 0x20);
      const bool is_letter = lower >= 'a' && lower <= 'f';
      if (!is_digit(c) && !is_letter) return std::nullopt;
      code = code << 4 | static_cast<std::uint32_t>(is_letter ? lower - 'a' + 10 : c - '0');
    }
    at_ += 5;
    return code;
  }

  /// Reads a number, true, false or null.
  bool word(Node* out) {
    const std::size_t begin = at_;
    while (at_ < text_.size() && (is_digit(text_[at_]) || (text_[at_] >= 'a' && text_[at_] <= 'z') ||
                                  text_[at_] == '-' || text_[at_] == '+' || text_[at_] == '.' || text_[at_] == 'E')) {
      ++at_;
    }
    const std::string_view found = text_.substr(begin, at_ - begin);
    if (found != "null" && found != "true" && found != "false" && !is_number(found)) {
      at_ = begin;
      return fail("expected a value");
    }
    if (out != nullptr) out->text = found;
    return true;
  }

  bool peek(char c) const { return at_ < text_.size() && text_[at_] == c; }
  bool take(char c) {
    if (!peek(c)) return false;
    ++at_;
    return true;
  }

  void skip_space() {
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '\n') {
        ++place_.line;
        place_.column = 1;
        placed_ = at_ + 1;
      } else if (c != ' ' && c != '\t' && c != '\r') {
        return;
      }
    }
  }

  /// Returns the place of the value that begins here. The place of a string is its first character after the quote.
  Place place_of_value() {
    Place found = place();
    found.column += peek('"') ? 1 : 0;
    return found;
  }

  /// Returns the place of the next character. It continues counting from the last place, so that each line is counted
  /// once.
  const Place& place() {
    std::uint32_t characters = 0;
    for (; placed_ < at_; ++placed_) characters += (static_cast<unsigned char>(text_[placed_]) & 0xc0) != 0x80 ? 1 : 0;
    place_.column += characters;
    return place_;
  }

  bool fail(std::string message) {
    fault_ = std::move(message);
    fault_place_ = place();
    return false;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  Place place_;  // place of the character at offset `placed_`
  std::size_t placed_ = 0;
  std::size_t values_ = 0;
  const std::size_t max_values_;
  std::size_t depth_ = 0;
  std::vector<std::string_view> keys_;  // keys of the mappings that are being read
  std::string fault_;
  Place fault_place_;
};

}  // namespace

Result<JsonFile> read_json(std::string_view text, const std::string& file, const Limits& limits,
                           std::span<const std::string_view> lists) {
  const Place start{std::make_shared<const std::string>(file), 1, 1};
  if (text.size() > limits.bytes) {
    return std::unexpected(error_at(start, "is larger than " + std::to_string(limits.bytes >> 20) + " MiB"));
  }
  JsonReader reader(text, start, limits.nodes);
  JsonFile out;
  if (!reader.read_root(out, lists)) return std::unexpected(reader.error());
  return out;
}

Node read_row(const JsonRow& row) {
  Node node;
  CAPSTAN_ASSERT(JsonReader(row.text, row.place, row.text.size()).value(&node));
  return node;
}

Node read_row(const JsonRow& row, std::string_view key) {
  Node node;
  CAPSTAN_ASSERT(JsonReader(row.text, row.place, row.text.size()).read_member(node, key));
  return node;
}

}  // namespace capstan::manifest
