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

/// Returns the messages of the errors that the reader finds in the full example, changed.
Strings said(Strings sets, const std::string& more = "");

/// Returns the keys that a mapping accepts, from the refusal of one that it does not.
const Strings& keys_of(const Mapping& mapping);
/// Returns the keys that the full example uses in a mapping.
const std::set<std::string>& used_by(const Mapping& mapping);
/// Returns the value of a key in the full example, or nothing.
std::string value_of(const Mapping& mapping, const std::string& key);
/// True if the mapping must have the key.
bool is_needed(const Mapping& mapping, const std::string& key);
/// True if an empty list is refused.
bool is_list_of_some(const Mapping& mapping, const std::string& key);

struct Column {
  std::string type;
  std::string bounds;
};

/// Returns the type of a key, from what the reader expects in the place of garbage, and its bounds, from what it
/// expects in the place of far too much.
const Column& column_of(const Mapping& mapping, const std::string& key);

/// "a, b or c" as a list.
Strings listed(std::string text);

/// Returns the part of scenario.md under a heading.
std::string section(const std::string& heading);
/// Returns scenario-full.yaml, changed.
manifest::Node full_example_with(const Strings& sets);

/// Returns the path of a key below a path; the path of the file is empty.
std::string under(const std::string& path, const std::string& key);

}  // namespace capstan::scenario
