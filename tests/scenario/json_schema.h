#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "manifest/yaml.h"
#include "scenario/reader_table.h"

namespace capstan::golden {

/// Returns the JSON Schema (draft 7) of a format: every mapping, key, type and bound of its reader, with the
/// descriptions from its page in docs/reference.
nlohmann::ordered_json schema_of(Format format);

/// Returns a YAML tree as JSON, with the types that an editor infers: a plain scalar is a number, a boolean or null if
/// it looks like one.
nlohmann::json as_json(const manifest::Node& node);

/// Validates a value against a schema. Supports the rules of draft 7 that `schema_of` uses.
/// @return the place and the rule of the first fault; empty if the value fits
std::string schema_fault(const nlohmann::ordered_json& schema, const nlohmann::json& value);

}  // namespace capstan::golden
