#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "manifest/yaml.h"

// Paths into a YAML tree: keys and list positions between dots, `policies.0.scale`.
namespace capstan::manifest {

/// The value at a path, or null.
const Node* at_path(const Node& root, std::string_view path);

/// Where to point when the values at several paths do not fit together: at the one that a command line set, else at the
/// first that the tree has, else at what is nearest to the first of them.
const Place& blame(const Node& root, std::span<const std::string> paths);

/// Applies one `--set path=value` to the tree. Keys that are missing are made, so that the reader of the tree judges
/// them. The value is read as YAML. Errors about what was set carry `--set path=value` as their file.
Result<void> apply_set(Node& root, const std::string& assignment);

}  // namespace capstan::manifest
