#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "manifest/yaml.h"

namespace capstan::scenario {

/// Returns the JSON Schema (draft 7) of a scenario: every mapping, key, type and bound of the scenario reader, with the
/// descriptions from docs/reference/scenario.md.
nlohmann::ordered_json scenario_schema();

/// Returns a YAML tree as JSON, with the types that an editor infers: a plain scalar is a number, a boolean or null if
/// it looks like one.
nlohmann::json as_json(const manifest::Node& node);

/// Validates a value against a schema. Supports the rules of draft 7 that `scenario_schema` uses.
/// @return the place and the rule of the first fault; empty if the value fits
std::string schema_fault(const nlohmann::ordered_json& schema, const nlohmann::json& value);

}  // namespace capstan::scenario
