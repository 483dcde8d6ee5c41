#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "manifest/yaml.h"

namespace capstan::manifest {

/// Returns the error for a file that holds a Kubernetes object although another kind of file is expected; nothing if
/// its root does not look like an object.
/// @param expected  kind of file that is expected, with its article: "a scenario"
std::optional<Error> object_instead_of(const Node& root, std::string_view expected);

/// Returns the same error for a file with several documents, of which the first is an object. Such a file cannot be
/// read as one document.
std::optional<Error> objects_instead_of(const std::string& path, std::string_view expected);

/// The inputs that commands read from YAML files.
enum class InputFile : std::uint8_t {
  scenario,   ///< `sim` and `compare`
  plan_spec,  ///< `plan`
  snapshot,   ///< `explain` and `decide`
  manifests,  ///< `lint`
};

/// Returns an error if a file is another input: a scenario has policies, the spec of a plan names clouds, instances or
/// tenants, a result has a format version and a scenario, and a trace is a table. The error names the command that
/// reads the file.
std::optional<Error> other_input_instead_of(const Node& root, InputFile expected);

}  // namespace capstan::manifest
