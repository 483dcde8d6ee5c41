#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "lint/run.h"

namespace capstan::lint {

/// The lint settings of a repository, from `.capstan-lint.yaml`:
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

/// Parses the file. An unknown key or rule is an error that names its place.
Result<Config> parse_config(const std::string& text, const std::string& path);

/// Returns the severity with this name. The error lists the valid names.
Result<Severity> severity_named(std::string_view name);

/// Parses a version such as "1.34" or "v1.34.2".
Result<KubeVersion> parse_kube_version(std::string_view text);

/// Returns the error for an unknown rule. It suggests the most similar one.
Error no_such_rule(std::string_view id);

}  // namespace capstan::lint
