#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "model/ids.h"

namespace capstan::model {

/// Levels from the narrowest to the widest. A node lies in exactly one domain of each level above `node`.
enum class TopologyLevel : std::uint8_t { node, nvlink, rack, zone, cluster };
inline constexpr std::size_t kTopologyLevels = 5;

/// One domain of the topology tree, such as a rack or a zone.
struct Domain {
  std::string name;
  TopologyLevel level = TopologyLevel::zone;
  DomainId parent;  ///< next wider domain; none for the cluster
};

/// The domains in which a node lies, by level. The entry of level `node` is empty, because a node is its own domain.
using DomainPath = std::array<DomainId, kTopologyLevels>;

}  // namespace capstan::model
