#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "manifest/yaml.h"

namespace capstan::scenario {

/// Returns the JSON Schema (draft 7) of a scenario: every mapping, key, type and bound as the reader of scenarios has
/// them, with what docs/reference/scenario.md says of each.
nlohmann::ordered_json scenario_schema();

/// Returns a YAML tree as an editor sees it: plain scalars are numbers, booleans or null where they look so.
nlohmann::json as_json(const manifest::Node& node);

/// Holds a value against a schema that uses what `scenario_schema` uses of draft 7.
/// @return where it does not fit and which rule that is, or nothing
std::string schema_fault(const nlohmann::ordered_json& schema, const nlohmann::json& value);

}  // namespace capstan::scenario
