#pragma once

#include <string>
#include <string_view>

// The Helm charts that a plan installs or needs. Each has a fixed version, so that a plan always installs the same.
namespace capstan::plan {

/// Returns the command that installs a chart at its version: "helm upgrade --install keda keda --repo ... --version
/// 2.20.2 --namespace keda".
/// @param chart    name of a row of the table in charts.cc
/// @param options  options of Helm, without a space at either end
std::string helm_install(std::string_view chart, std::string_view options);

}  // namespace capstan::plan
