#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "base/quantity.h"
#include "plan/spec/spec.h"

namespace capstan::plan {

/// Returns how many nodes a pool may buy above its maximum while a zone is lost: as many as the base nodes in one zone,
/// because the nodes of the lost zone count against the limit of the pool until they are deleted.
/// @param base  nodes of the minimum replicas, which are spread over the zones
/// @param unit  nodes of one replica, which are in one zone
/// @param room  further nodes that the limits of the whole cluster allow
inline std::int64_t replacement_nodes(const ClusterSpec& cluster, std::int64_t base, std::int64_t unit,
                                      std::int64_t room) {
  const auto zones = static_cast<std::int64_t>(cluster.zones.size());
  if (zones < 2 || cluster.provisioner == Provisioner::none) return 0;
  return std::clamp<std::int64_t>(ceil_div(ceil_div(base, unit), zones) * unit, 0, std::max<std::int64_t>(room, 0));
}

/// Returns how many further nodes the limits of the whole cluster allow.
/// @param gpus, per_hour  GPUs and price of the nodes that the pools are already allowed to have
/// @param node_gpus, node_per_hour  whole GPUs and price of one further node
inline std::int64_t nodes_left(const LimitSpec& limits, GpuCount gpus, MicroUsd per_hour, GpuCount node_gpus,
                               MicroUsd node_per_hour) {
  std::int64_t left = std::numeric_limits<std::int32_t>::max();
  if (limits.gpus) left = std::min(left, (*limits.gpus - gpus) / std::max<GpuCount>(1, node_gpus));
  if (limits.per_hour && node_per_hour.count > 0) {
    left = std::min(left, (limits.per_hour->count - per_hour.count) / node_per_hour.count);
  }
  return std::max<std::int64_t>(left, 0);
}

}  // namespace capstan::plan
