#pragma once

#include <algorithm>
#include <cstdint>

#include "base/quantity.h"
#include "plan/spec/spec.h"

namespace capstan::plan {

/// Returns the nodes that a pool may buy above its maximum while a zone is lost: as many as one zone has of the base.
/// The nodes of the lost zone count against the limit of the pool until they are deleted.
/// @param base  nodes of the minimum replicas, which are spread over the zones
/// @param unit  nodes of one replica, which are in one zone
/// @param room  nodes that the limit of the whole cluster leaves
inline std::int64_t replacement_nodes(const ClusterSpec& cluster, std::int64_t base, std::int64_t unit,
                                      std::int64_t room) {
  const auto zones = static_cast<std::int64_t>(cluster.zones.size());
  if (zones < 2 || cluster.provisioner == Provisioner::none) return 0;
  return std::clamp<std::int64_t>(ceil_div(ceil_div(base, unit), zones) * unit, 0, std::max<std::int64_t>(room, 0));
}

}  // namespace capstan::plan
