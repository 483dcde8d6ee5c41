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

// What people write by hand, read without judging it: several documents in one text, each a tree whose values know
// their bytes. For readers that point at, or edit, other people's files; `manifest/yaml.h` is for files of our own.
namespace capstan::manifest {

/// Bytes of a text, from `begin` up to, and without, `end`.
struct Span {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;

  std::uint32_t size() const { return end - begin; }
  bool holds(const Span& other) const { return begin <= other.begin && other.end <= end; }
  bool operator==(const Span&) const = default;
};

enum class Form : std::uint8_t { missing, scalar, sequence, mapping };
enum class Style : std::uint8_t { plain, single_quoted, double_quoted, literal, folded, block, flow };

/// One value of a document. Asking for what is not there gives a missing value, whose children are missing too: a path
/// is written straight down, `root["spec"]["template"]`.
struct Value {
  Form form = Form::missing;
  Style style = Style::plain;
  bool shared = false;  ///< written elsewhere: reached through an alias or a merge key
  Span key_span;        ///< in a mapping: the key as it is written, quotes included
  Span span;            ///< the value as it is written, quotes included; of a block scalar without its last line break
  std::uint32_t count = 0;
  std::string_view key;
  std::string_view text;  ///< scalar, decoded
  const Value* first = nullptr;

  explicit operator bool() const { return form != Form::missing && !is_null(); }
  bool is_null() const { return form == Form::scalar && style == Style::plain && is_null_word(text); }
  bool is(std::string_view word) const { return form == Form::scalar && text == word; }
  bool is_mapping() const { return form == Form::mapping; }
  bool is_sequence() const { return form == Form::sequence; }
  bool is_scalar() const { return form == Form::scalar && !is_null(); }
  bool is_block_scalar() const { return style == Style::literal || style == Style::folded; }

  /// The children of a mapping (each with its `key`) or a sequence, in the order of the text.
  std::span<const Value> children() const { return {first, count}; }
  const Value& operator[](std::string_view name) const;
  const Value& operator[](std::size_t index) const;
  bool has(std::string_view name) const { return (*this)[name].form != Form::missing; }

  std::optional<std::int64_t> integer() const;  ///< 5, "5"; none beyond 2^32, which counts nothing
  std::optional<double> number() const;         ///< 0.85, "0.85"

  static const Value& missing();
  static bool is_null_word(std::string_view word) {
    return word.empty() || word == "~" || word == "null" || word == "Null" || word == "NULL";
  }
};

static_assert(sizeof(Value) <= 64, "a line of the cache: most of a run is looking at keys");

/// Why a document, or a part of it, is not what YAML allows, or what manifests are made of: their keys are texts.
struct Fault {
  enum class Kind : std::uint8_t { syntax, duplicate_key, key_not_text };
  Kind kind = Kind::syntax;
  Span span;
  std::string message;
};

struct Document {
  Value root;                 ///< missing where the document could not be read
  Span span;                  ///< all of it, with its `---`
  std::vector<Fault> faults;  ///< one syntax error at most, then duplicate keys
};

struct DocumentLimits {
  std::size_t bytes = 32u << 20;
  std::size_t values = 1'000'000;  ///< of one document, aliases expanded: an alias bomb ends here
  std::size_t depth = 128;
};

/// The documents of one text. The values point into the text and into storage of this object.
class Documents {
 public:
  /// Reads `text`, which must outlive this object. Never fails as a whole: what cannot be read has a fault.
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

/// Lines and columns of a text's bytes, both from 1; a column counts characters.
class LineTable {
 public:
  struct Position {
    std::uint32_t line = 1;
    std::uint32_t column = 1;
  };

  explicit LineTable(std::string_view text);
  Position at(std::uint32_t offset) const;
  /// A line from 1, without its line break.
  std::string_view line(std::uint32_t number) const;
  std::uint32_t offset_of_line(std::uint32_t number) const;
  std::uint32_t lines() const { return static_cast<std::uint32_t>(starts_.size()); }

 private:
  std::string_view text_;
  std::vector<std::uint32_t> starts_;
};

/// The first byte of `text` that YAML does not allow, with why: a control character, or not UTF-8.
std::optional<Fault> forbidden_byte(std::string_view text);

}  // namespace capstan::manifest
