#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace capstan::plan {

/// A YAML document that the plan writes: a scalar, a list or a mapping, with comments that give the reason for a value.
/// Mappings keep the order in which keys were set.
///
///   Yaml pool = Yaml::map({{"apiVersion", "karpenter.sh/v1"}, {"kind", "NodePool"}});
///   pool["spec"]["disruption"].set("consolidateAfter", "1h", "a replica needs 4 min to start again");
class Yaml {
 public:
  using Entry = std::pair<std::string, Yaml>;

  /// Makes an empty mapping.
  Yaml() = default;
  Yaml(std::string_view text) : kind_(Kind::text), text_(text) {}  // NOLINT: implicit, for literals in a mapping
  Yaml(const char* text) : Yaml(std::string_view(text)) {}         // NOLINT
  Yaml(const std::string& text) : Yaml(std::string_view(text)) {}  // NOLINT
  Yaml(bool value) : kind_(Kind::plain), text_(value ? "true" : "false") {}  // NOLINT
  template <std::integral Integer>
  Yaml(Integer value) : kind_(Kind::plain), text_(std::to_string(value)) {}  // NOLINT

  /// Makes a scalar that is written without quotes, for example a number with a fraction.
  static Yaml plain(std::string_view text);
  static Yaml map(std::initializer_list<Entry> entries);
  static Yaml list(std::initializer_list<Yaml> elements = {});
  static Yaml list(const std::vector<std::string>& elements);

  /// Returns the value of a key, and adds an empty mapping if the key is absent.
  Yaml& operator[](std::string_view key);
  /// Sets the value of a key.
  /// @param comment  printed above the key, one line for each line of the text; empty: the comment of `value` stays
  Yaml& set(std::string_view key, Yaml value, std::string_view comment = {});
  /// Appends an element to a list.
  Yaml& add(Yaml element);
  /// Sets the comment that is printed above this value.
  Yaml&& with_comment(std::string_view comment) &&;

  const Yaml* find(std::string_view key) const;
  bool is_map() const { return kind_ == Kind::map; }
  bool is_list() const { return kind_ == Kind::list; }
  const std::vector<Entry>& entries() const { return entries_; }   ///< returns the entries of a mapping
  const std::vector<Yaml>& elements() const { return elements_; }  ///< returns the elements of a list
  const std::string& comment() const { return comment_; }
  /// Returns the comment without the instruction to the linter with which it may begin: "capstan:ignore RULE".
  std::string reason() const;
  bool empty() const { return entries_.empty() && elements_.empty() && kind_ != Kind::text && kind_ != Kind::plain; }
  /// Returns the text of a scalar, without quotes.
  const std::string& text() const { return text_; }

  /// Returns the document in block style with a final line break. A text is quoted if YAML would read it as another
  /// type; a text of several lines becomes a literal block.
  std::string document() const;
  /// Returns the document on one line, in flow style and without comments.
  std::string flow() const;

 private:
  enum class Kind : std::uint8_t { map, list, text, plain };

  void write(std::string& out, std::size_t indent) const;
  void write_entries(std::string& out, std::size_t indent, bool after_dash) const;
  void write_elements(std::string& out, std::size_t indent) const;
  void write_value(std::string& out, std::size_t indent) const;

  Kind kind_ = Kind::map;
  std::string text_;
  std::string comment_;
  std::vector<Entry> entries_;
  std::vector<Yaml> elements_;
};

}  // namespace capstan::plan
