#pragma once

#include <set>
#include <string>
#include <vector>

#include "manifest/yaml.h"

// Determines every key that the scenario reader accepts, with its type and bounds, from the reader's error messages.
// For an unknown key the reader lists the keys that it accepts, and for a value outside the bounds it names the bounds.
// Both errors are provoked in each mapping of docs/reference/scenario-full.yaml.
namespace capstan::scenario {

using Strings = std::vector<std::string>;

/// A mapping of a scenario.
struct Mapping {
  std::string heading;       ///< heading in scenario.md; empty if another page describes the mapping
  std::string path;          ///< path in the full example
  Strings sets;              ///< changes with which the full example contains the mapping
  Strings only{};            ///< keys whose rows in scenario.md are checked; empty: all keys
  std::string definition{};  ///< name in the JSON Schema; empty: the heading

  const std::string& name() const { return definition.empty() ? heading : definition; }
};

/// Returns all mappings, each in every kind that it may have.
const std::vector<Mapping>& mappings();

/// Returns the messages of the reader's errors in the full example with these changes.
Strings reader_errors(Strings sets, const std::string& extra_set = "");

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

/// Returns the type of a key, from the reader's error about a nonsensical value, and its bounds, from the error about a
/// value that is much too large.
const Column& column_of(const Mapping& mapping, const std::string& key);

/// Splits a text such as "a, b or c" into its items.
Strings split_items(std::string text);

/// Returns the part of scenario.md under a heading.
std::string section(const std::string& heading);
/// Returns scenario-full.yaml with these changes.
manifest::Node full_example_with(const Strings& sets);

/// Returns the path of a key of the mapping at `path`; the path of the whole file is empty.
std::string child_path(const std::string& path, const std::string& key);

}  // namespace capstan::scenario
