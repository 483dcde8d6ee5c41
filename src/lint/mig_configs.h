#pragma once

#include <functional>
#include <string_view>

#include "lint/embedded.h"
#include "lint/rule.h"

// The MIG configurations of a ConfigMap for NVIDIA's mig-manager, and the strategy by which nodes offer slices.
namespace capstan::lint {

/// Calls `visit` with each file of the ConfigMap that has a `mig-configs` key.
void for_each_mig_file(const Subject& s, const std::function<void(const Value& root)>& visit);

/// One entry of a configuration, which divides some devices.
struct MigEntry {
  const Value& config;  ///< configuration; its key is its name
  const Value& entry;
};
void for_each_mig_entry(const Subject& s, const std::function<void(const MigEntry&)>& visit);

/// The MIG strategy of the folder of the object, "single" or "mixed". A ClusterPolicy or chart values state it.
struct MigStrategy {
  std::string_view text;         ///< strategy; empty if no object states one
  const Object* from = nullptr;  ///< object that states the strategy
};
MigStrategy mig_strategy(const Subject& s);

}  // namespace capstan::lint
