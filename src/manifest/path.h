#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "manifest/yaml.h"

// Paths into a YAML tree: keys, list positions and names of list items, separated by dots, such as `policies.0.scale`
// or `services.chat.slo`.
namespace capstan::manifest {

/// Returns the value at a path, or null.
const Node* at_path(const Node& root, std::string_view path);

/// Returns the path of an item of a list: "services.chat", or "services.0" if the item has no name that can be a step.
std::string item_path(std::string_view list, const Node& item, std::size_t position);

/// Returns the place for an error about the values at several paths: the value that the command line set, else the
/// first one that exists, else the nearest existing node on the first path.
const Place& place_for_error(const Node& root, std::span<const std::string> paths);

/// Applies one `--set path=value` to the tree. Missing keys are created, and the reader of the tree decides whether
/// they are valid. The value is YAML. Errors about the new value have `--set path=value` as their file.
Result<void> apply_set(Node& root, const std::string& assignment);

}  // namespace capstan::manifest
