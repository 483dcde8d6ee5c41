#pragma once

#include <array>
#include <string_view>

#include "model/level.h"

namespace capstan::model {

/// Names of a level: `key` in files and settings, `words` in sentences.
struct LevelName {
  std::string_view key;
  std::string_view words;
};
inline constexpr std::array<LevelName, kTopologyLevels> kLevelNames{
    {{"node", "node"}, {"nvlink", "NVLink domain"}, {"rack", "rack"}, {"zone", "zone"}, {"cluster", "cluster"}}};

constexpr const LevelName& name(TopologyLevel level) { return kLevelNames[static_cast<std::size_t>(level)]; }

}  // namespace capstan::model
