#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "manifest/document.h"

namespace capstan::lint {

/// A value of an object that its CustomResourceDefinition does not allow.
struct CrdFault {
  const manifest::Value* value = nullptr;  ///< the value, or the mapping that lacks a required field
  bool is_unknown_field = false;
  bool is_missing_field = false;
  std::string path{};  ///< "spec.roles[0].variants[0].minReplicas"
  /// The fault, as the end of a sentence that begins with the path: "is 0, expected at least 1".
  std::string fault{};
};

/// Compares an object with the structure that a definition gives it: types, required and unknown fields, choices,
/// patterns, lengths and bounds. Rules in CEL need an API server. `metadata` and `status` are not compared, and a null
/// counts as an absent field.
/// @param schema  openAPIV3Schema of the version of the object
std::vector<CrdFault> crd_faults(const manifest::Value& object, const manifest::Value& schema);

/// Returns the schema of a kind of Capstan, from the definitions that are compiled into the program; a missing value if
/// Capstan has no such kind or version.
const manifest::Value& own_schema(std::string_view api_version, std::string_view kind);

}  // namespace capstan::lint
