#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "model/topology.h"
#include "model/topology_names.h"

namespace capstan::model {

/// Returns the level of a topology with this name. `node` and `cluster` are levels of each topology.
inline std::optional<Level> level_named(std::span<const Topology> topologies, std::size_t topology,
                                        std::string_view name) {
  if (name == kLevelNames.front().key) return TopologyLevel::node;
  if (name == kLevelNames.back().key) return TopologyLevel::cluster;
  const std::vector<Topology::LevelInfo>& levels = topologies[topology].levels;
  const auto found = std::ranges::find(levels, name, &Topology::LevelInfo::name);
  if (found == levels.end()) return std::nullopt;
  return level_at(topologies, {topology, static_cast<std::size_t>(found - levels.begin())});
}

}  // namespace capstan::model
