#pragma once

#include <optional>
#include <string_view>

#include "base/error.h"
#include "manifest/yaml.h"

namespace capstan::manifest {

/// Returns the error for a file that holds a Kubernetes object although another kind of file is expected; nothing if
/// its root does not look like an object.
/// @param expected  kind of file that is expected, with its article: "a scenario"
std::optional<Error> object_instead_of(const Node& root, std::string_view expected);

}  // namespace capstan::manifest
