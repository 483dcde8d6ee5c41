#pragma once

#include <cstdint>
#include <string>

#include "sim/cluster/cluster_config.h"

namespace capstan::experiment {

/// Returns the warning about launches of nodes for which no rack had a place. It names the `cluster.racks_per_zone`
/// with which one zone has places for all replicas at their maximum, or the keys if more racks are not the remedy.
std::string room_warning(const sim::ClusterConfig& cluster, std::int64_t launches);

}  // namespace capstan::experiment
