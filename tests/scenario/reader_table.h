#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "manifest/yaml.h"

// Determines every key that the readers of scenarios and of plans accept, with its type and bounds, from the readers'
// error messages. For an unknown key a reader lists the keys that it accepts, and for a value outside the bounds it
// names the bounds. Both errors are provoked in each mapping of a file that uses every key.
namespace capstan::golden {

using Strings = std::vector<std::string>;

enum class Format : std::uint8_t { scenario, plan };

/// A mapping of a scenario, or of the spec of a plan.
struct Mapping {
  std::string heading;       ///< heading in the format's page; empty if another page describes the mapping
  std::string path;          ///< path in the full example
  Strings sets;              ///< changes with which the full example contains the mapping
  Strings only{};            ///< keys whose rows in the page are checked; empty: all keys
  std::string definition{};  ///< name in the JSON Schema; empty: the heading
  Format format = Format::scenario;

  const std::string& name() const { return definition.empty() ? heading : definition; }
};

/// Returns all mappings of both formats. A mapping of several kinds has one element for each kind.
const std::vector<Mapping>& mappings();

/// Returns the messages of the reader's errors in the full example with these changes.
Strings reader_errors(Format format, Strings sets, const std::string& extra_set = "");

/// Returns the keys that a mapping accepts, from the error about an unknown key.
const Strings& keys_of(const Mapping& mapping);
/// Returns the keys that the full example uses in a mapping.
const std::set<std::string>& used_by(const Mapping& mapping);
/// Returns the value of a key in the full example, or nothing.
std::string value_of(const Mapping& mapping, const std::string& key);
/// Returns true if the mapping must have the key.
bool is_required(const Mapping& mapping, const std::string& key);
/// Returns true if the key has a list that must not be empty.
bool is_nonempty_list(const Mapping& mapping, const std::string& key);

struct Column {
  std::string type;
  std::string bounds;
};

/// Returns the type and the bounds of a key. The type comes from the reader's error about a nonsensical value, the
/// bounds from its error about a value that is much too large.
const Column& column_of(const Mapping& mapping, const std::string& key);

/// Splits a text such as "a, b or c" into its items.
Strings split_items(std::string text);

/// Returns the name of a format's page: "scenario.md".
std::string page_name(Format format);
/// Returns the part of the page under a heading.
std::string section(Format format, const std::string& heading);
/// Returns the format's full example with these changes.
manifest::Node full_example_with(Format format, const Strings& sets);

/// Returns the path of a key of the mapping at `path`; the path of the whole file is empty.
std::string child_path(const std::string& path, const std::string& key);

}  // namespace capstan::golden
