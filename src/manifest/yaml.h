#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace capstan::manifest {

/// Where something was written. Line and column count from 1; line 0 means that it has none.
struct Place {
  std::shared_ptr<const std::string> file;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  bool from_option = false;  ///< on the command line (`--set`), which `file` quotes
};

/// Limits of what is read, so that no input costs more than its size suggests. What people write by hand is far below.
struct Limits {
  std::size_t bytes = 8u << 20;
  std::size_t nodes = 500'000;  ///< after aliases are expanded: an alias bomb ends here
};
inline constexpr std::size_t kMaxYamlDepth = 64;

/// One value of a YAML document. Aliases are expanded; keys are texts and unique in their mapping.
struct Node {
  enum class Kind : std::uint8_t { scalar, sequence, mapping };
  struct Entry;

  Kind kind = Kind::scalar;
  Place place;
  std::string text;            ///< scalar
  bool quoted = false;         ///< scalar: written in quotes or as a block, hence a text whatever it looks like
  std::vector<Node> items;     ///< sequence
  std::vector<Entry> entries;  ///< mapping, in the order of the file

  bool is_null() const { return kind == Kind::scalar && !quoted && (text.empty() || text == "~" || text == "null"); }
  const Node* find(std::string_view key) const;  ///< the value of a mapping's key, or null
  Node* find(std::string_view key);
  std::string words() const;  ///< what was found, for a message: `"90 parsecs"`, `a list`, `a mapping`, `nothing`
};

struct Node::Entry {
  std::string key;
  Place place;
  Node value;
};

/// What a command line states is its user's: bad input from an option is a usage error.
Error error_at(const Place& place, std::string message, ErrorKind kind = ErrorKind::input);

/// Reads a text that holds exactly one YAML document.
/// @param file    its name in errors
/// @param faults  takes the errors that a reader can go on after: a key that is given twice, of which the first counts,
///                and a tag; null: they end the reading like all others
Result<Node> parse(std::string_view text, const std::string& file, const Limits& limits = {},
                   std::vector<Error>* faults = nullptr);

/// Reads a file from disk.
Result<Node> parse_file(const std::string& path, const Limits& limits = {}, std::vector<Error>* faults = nullptr);

/// Reads all documents of a text or a file, such as a Kubernetes manifest; empty ones are left out.
Result<std::vector<Node>> parse_documents(std::string_view text, const std::string& file, const Limits& limits = {});
Result<std::vector<Node>> parse_documents_file(const std::string& path, const Limits& limits = {});

}  // namespace capstan::manifest
