#pragma once

#include "peers/autoscaler.h"

namespace capstan::peers {

/// Requests that replicas and the gateway hold, by the last readings; nothing where nobody has said anything.
std::optional<double> requests_in_flight(const Sight& sight);

/// Cut to bounds, of which 0 means none.
ReplicaCount bounded(ReplicaCount wanted, ReplicaCount min, ReplicaCount max);

}  // namespace capstan::peers
