#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "lint/run.h"

namespace capstan::lint {

/// What a repository says of its linting, `.capstan-lint.yaml`:
///
///   kube_version: "1.34"
///   advice: true
///   exclude: [vendor/, "*.tmpl.yaml"]
///   rules: {image-floating-tag: error, keda-null-as-zero: off}
struct Config {
  Options options;
  std::vector<std::string> exclude;
};

inline constexpr const char* kConfigFile = ".capstan-lint.yaml";

/// Reads it strictly: a key or a rule that is not known is an error with its place.
Result<Config> parse_config(const std::string& text, const std::string& path);

/// A severity by its name; an error says what there is.
Result<Severity> severity_named(std::string_view word);

/// "1.34", "v1.34.2".
Result<KubeVersion> parse_kube_version(std::string_view text);

/// An error that names the rule that was probably meant.
Error no_such_rule(std::string_view id);

}  // namespace capstan::lint
