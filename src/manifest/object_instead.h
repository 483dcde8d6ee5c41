#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/error.h"
#include "manifest/yaml.h"

namespace capstan::manifest {

/// Returns the error for a file that holds a Kubernetes object although another kind of file is expected; nothing if
/// its root does not look like an object.
/// @param expected  kind of file that is expected, with its article: "a scenario"
std::optional<Error> object_instead_of(const Node& root, std::string_view expected);

/// The inputs that commands read from YAML files.
enum class InputFile : std::uint8_t {
  scenario,   ///< `sim` and `compare`
  plan_spec,  ///< `plan`
};

/// Returns an error if the keys of a file are those of another input: a scenario has policies, and the spec of a plan
/// names clouds, instances or tenants. The error names the command that reads the file.
std::optional<Error> other_input_instead_of(const Node& root, InputFile expected);

}  // namespace capstan::manifest
