#pragma once

#include "peers/autoscaler.h"

namespace capstan::peers {

/// Returns the number of requests in the replicas and in the gateway's queue, from the last readings. Empty if there is
/// no reading.
std::optional<double> requests_in_flight(const ClusterView& view);

/// Returns `wanted`, limited to the range from `min` to `max`. A `max` of 0 means no upper limit.
ReplicaCount bounded(ReplicaCount wanted, ReplicaCount min, ReplicaCount max);

}  // namespace capstan::peers
