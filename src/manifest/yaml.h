#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace capstan::manifest {

/// The place of a value in a file. Line and column count from 1. Line 0 means that the line is unknown.
struct Place {
  std::shared_ptr<const std::string> file;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  bool from_option = false;  ///< true if the value is from `--set`; `file` then quotes the option
};

/// Limits that keep the cost of every input in proportion to its size. Files written by hand are far below them.
struct Limits {
  std::size_t bytes = 8u << 20;
  std::size_t nodes = 500'000;  ///< values after expansion of aliases; this stops alias bombs
};
inline constexpr std::size_t kMaxYamlDepth = 64;

/// Returns the error for a document with too many values. Each reader of YAML has a limit of its own.
std::string too_many_values(std::size_t most);

/// One value of a YAML document. Aliases are expanded. Keys are strings and unique in their mapping.
struct Node {
  enum class Kind : std::uint8_t { scalar, sequence, mapping };
  struct Entry;

  Kind kind = Kind::scalar;
  Place place;
  std::string text;            ///< decoded text of a scalar
  bool quoted = false;         ///< true if the scalar is in quotes or a block scalar, so a string
  std::vector<Node> items;     ///< elements of a sequence
  std::vector<Entry> entries;  ///< entries of a mapping, in the order of the file

  bool is_null() const { return kind == Kind::scalar && !quoted && (text.empty() || text == "~" || text == "null"); }
  const Node* find(std::string_view key) const;  ///< value of a mapping's key, or null
  Node* find(std::string_view key);
  std::string words() const;  ///< description for messages: `"90 parsecs"`, `a list`, `a mapping` or `nothing`
};

struct Node::Entry {
  std::string key;
  Place place;
  Node value;
};

/// Makes an error at a place. A wrong value from a command line option is a usage error, not an input error.
Error error_at(const Place& place, std::string message, ErrorKind kind = ErrorKind::input);

/// Parses a text with exactly one YAML document.
/// @param file    name of the text in errors
/// @param faults  receives the errors after which parsing can go on: a repeated key, whose first value counts, and a
///                tag. If null, these errors end the parsing like all others.
Result<Node> parse(std::string_view text, const std::string& file, const Limits& limits = {},
                   std::vector<Error>* faults = nullptr);

/// Reads a file. A file that cannot be read or is larger than the limit is an input error.
Result<std::string> read_text(const std::string& path, const Limits& limits = {});

/// Parses a file.
Result<Node> parse_file(const std::string& path, const Limits& limits = {}, std::vector<Error>* faults = nullptr);

/// Parses all documents of a text or a file, such as a Kubernetes manifest. Empty documents are left out.
Result<std::vector<Node>> parse_documents(std::string_view text, const std::string& file, const Limits& limits = {});
Result<std::vector<Node>> parse_documents_file(const std::string& path, const Limits& limits = {});

}  // namespace capstan::manifest
