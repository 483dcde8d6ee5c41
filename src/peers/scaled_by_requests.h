#pragma once

#include "peers/autoscaler.h"

namespace capstan::peers {

/// Returns the requests in replicas and the gateway by their last readings; empty if there is no reading.
std::optional<double> requests_in_flight(const ClusterView& view);

/// Clamps to bounds, of which 0 means none.
ReplicaCount bounded(ReplicaCount wanted, ReplicaCount min, ReplicaCount max);

}  // namespace capstan::peers
