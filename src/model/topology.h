#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "model/ids.h"

namespace capstan::model {

/// From the narrowest to the widest. A node lies in exactly one domain of each level above `node`.
enum class TopologyLevel : std::uint8_t { node, nvlink, rack, zone, cluster };
inline constexpr std::size_t kTopologyLevels = 5;

/// A place in the tree of what is near to what.
struct Domain {
  std::string name;
  TopologyLevel level = TopologyLevel::zone;
  DomainId parent;  ///< the next wider domain; none for the cluster
};

/// The domains that a node lies in, by level; `node` has none (the node is its own domain).
using DomainPath = std::array<DomainId, kTopologyLevels>;

}  // namespace capstan::model
