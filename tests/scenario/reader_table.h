#pragma once

#include <set>
#include <string>
#include <vector>

#include "manifest/yaml.h"

// Every key that the reader of scenarios accepts, with its type and bounds, from the reader itself. A strict reader
// names every key that it accepts when it meets one that it does not, and every bound when it meets a value beyond it:
// each mapping of docs/reference/scenario-full.yaml is asked for both.
namespace capstan::scenario {

using Strings = std::vector<std::string>;

/// A mapping of the schema: where the page describes it, where it stands in the full example, and what has to be set
/// for it to be there.
struct Mapping {
  std::string heading;  ///< in scenario.md; empty: another page describes it
  std::string path;
  Strings sets;
  Strings only{};            ///< the keys whose rows are looked at here; empty: all
  std::string definition{};  ///< its name in the JSON Schema; empty: the heading

  const std::string& name() const { return definition.empty() ? heading : definition; }
};

/// All mappings, each in every kind that it may have.
const std::vector<Mapping>& mappings();

/// What the reader says of the full example, changed: the messages of its errors.
Strings said(Strings sets, const std::string& more = "");

/// The keys that a mapping accepts, from the refusal of one that it does not.
const Strings& keys_of(const Mapping& mapping);
/// The keys that the full example uses in a mapping.
const std::set<std::string>& used_by(const Mapping& mapping);
/// What a key has in the full example, or nothing.
std::string value_of(const Mapping& mapping, const std::string& key);
/// True if the mapping must have the key.
bool is_needed(const Mapping& mapping, const std::string& key);
/// True if an empty list is refused.
bool is_list_of_some(const Mapping& mapping, const std::string& key);

struct Column {
  std::string type;
  std::string bounds;
};

/// The type of a key, from what the reader expected in the place of garbage, and its bounds, from what it expected in
/// the place of far too much.
const Column& column_of(const Mapping& mapping, const std::string& key);

/// "a, b or c" as a list.
Strings listed(std::string text);

/// The part of the page scenario.md under a heading.
std::string section(const std::string& heading);
/// scenario-full.yaml, changed.
manifest::Node full_example_with(const Strings& sets);

/// The path of a key below a path, which may be that of the file.
std::string under(const std::string& path, const std::string& key);

}  // namespace capstan::scenario
