#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// A reader of YAML and JSON files of other tools. Each value has its place in the text, so that errors can point at it
// and edits can change it. Only the syntax is checked. `manifest/yaml.h` reads Capstan's own files.
namespace capstan::manifest {

/// A range of bytes in a text; `end` is exclusive.
struct Span {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;

  std::uint32_t size() const { return end - begin; }
  bool holds(const Span& other) const { return begin <= other.begin && other.end <= end; }
  bool operator==(const Span&) const = default;
};

enum class Form : std::uint8_t { missing, scalar, sequence, mapping };
enum class Style : std::uint8_t { plain, single_quoted, double_quoted, literal, folded, block, flow };

/// One value of a document. A lookup that finds nothing returns a missing value, whose children are missing too, so
/// that a path needs no checks in between: `root["spec"]["template"]`.
struct Value {
  Form form = Form::missing;
  Style style = Style::plain;
  bool shared = false;  ///< true for a value of an alias or a merge key, whose `span` is elsewhere
  Span key_span;        ///< key in a mapping, quotes included
  Span span;            ///< value, quotes included; a block scalar is without its last line break
  std::uint32_t count = 0;
  std::string_view key;
  std::string_view text;  ///< decoded text of a scalar
  const Value* first = nullptr;

  explicit operator bool() const { return form != Form::missing && !is_null(); }
  bool is_null() const { return form == Form::scalar && style == Style::plain && is_null_word(text); }
  bool is(std::string_view word) const { return form == Form::scalar && text == word; }
  bool is_mapping() const { return form == Form::mapping; }
  bool is_sequence() const { return form == Form::sequence; }
  bool is_scalar() const { return form == Form::scalar && !is_null(); }
  bool is_block_scalar() const { return style == Style::literal || style == Style::folded; }

  /// Returns the children of a mapping (each with its `key`) or of a sequence, in the order of the text.
  std::span<const Value> children() const { return {first, count}; }
  const Value& operator[](std::string_view name) const;
  const Value& operator[](std::size_t index) const;
  bool has(std::string_view name) const { return (*this)[name].form != Form::missing; }

  std::optional<std::int64_t> integer() const;  ///< value of 5 or "5"; none above 2^32
  std::optional<double> number() const;         ///< value of 0.85 or "0.85"

  static const Value& missing();
  static bool is_null_word(std::string_view word) {
    return word.empty() || word == "~" || word == "null" || word == "Null" || word == "NULL";
  }
};

static_assert(sizeof(Value) <= 64, "a value fits into a cache line, because lookups of keys dominate the run time");

/// An error in a document: invalid YAML, a repeated key, or a key that is not a string, which YAML allows and
/// Kubernetes manifests do not.
struct Fault {
  /// `equal_duplicate` is a duplicate key whose values are equal, so no value is lost.
  enum class Kind : std::uint8_t { syntax, duplicate_key, equal_duplicate, key_not_text };
  Kind kind = Kind::syntax;
  Span span;
  std::string message;
};

struct Document {
  Value root;                 ///< top value; missing if the document could not be read
  Span span;                  ///< whole document, including its `---`
  std::vector<Fault> faults;  ///< one error if the document could not be read, otherwise its duplicate keys
};

struct DocumentLimits {
  std::size_t bytes = 32u << 20;
  std::size_t values = 1'000'000;  ///< values of one document after expansion of aliases; this stops alias bombs
  std::size_t depth = 128;
};

/// The documents of one text. The values point into the text and into storage of this object.
class Documents {
 public:
  /// Reads `text`, which must outlive this object. It never fails as a whole: a document that cannot be read has a
  /// fault.
  static Documents parse(std::string_view text, const DocumentLimits& limits = {});

  Documents();
  ~Documents();
  Documents(Documents&&) noexcept;
  Documents& operator=(Documents&&) noexcept;

  std::span<const Document> all() const { return documents_; }

 private:
  friend class DocumentBuilder;
  struct Storage;
  std::vector<Document> documents_;
  std::unique_ptr<Storage> storage_;
};

/// Converts byte offsets of a text to lines and columns, both counted from 1. Columns count characters.
class LineTable {
 public:
  struct Position {
    std::uint32_t line = 1;
    std::uint32_t column = 1;
  };

  explicit LineTable(std::string_view text);
  Position at(std::uint32_t offset) const;
  /// Returns a line, counted from 1, without its line break.
  std::string_view line(std::uint32_t number) const;
  std::uint32_t offset_of_line(std::uint32_t number) const;
  std::uint32_t lines() const { return static_cast<std::uint32_t>(starts_.size()); }

 private:
  std::string_view text_;
  std::vector<std::uint32_t> starts_;
};

/// Returns an error for the first byte of `text` that YAML does not allow: a control character or invalid UTF-8.
std::optional<Fault> forbidden_byte(std::string_view text);

}  // namespace capstan::manifest
