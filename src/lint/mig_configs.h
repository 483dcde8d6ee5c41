#pragma once

#include <functional>
#include <string_view>

#include "lint/embedded.h"
#include "lint/rule.h"

// The configurations of MIG that a ConfigMap holds for NVIDIA's mig-manager, and how its slices are offered.
namespace capstan::lint {

/// Calls `visit` with each file of the ConfigMap that has a `mig-configs`.
void each_mig_file(const Subject& s, const std::function<void(const Value& root)>& visit);

/// One entry of a configuration: how some devices are divided.
struct MigEntry {
  const Value& config;  ///< its key is the configuration's name
  const Value& entry;
};
void each_mig_entry(const Subject& s, const std::function<void(const MigEntry&)>& visit);

/// The strategy that a ClusterPolicy or the chart's values beside the object state: "single", "mixed"; empty where
/// none does.
struct MigStrategy {
  std::string_view text;         ///< empty where nothing says it
  const Object* from = nullptr;  ///< says it
};
MigStrategy mig_strategy(const Subject& s);

}  // namespace capstan::lint
