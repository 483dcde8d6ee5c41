#pragma once

#include <string>
#include <vector>

#include "model/topology.h"
#include "sim/cluster/cluster_meter.h"

namespace capstan::experiment {

/// Returns the warnings of a result's row, one sentence each: actions that the cluster refused again and again, and
/// replicas whose pods a placement put into several domains.
/// @param level  the domain that a replica's pods have to share
std::vector<std::string> refusal_warnings(const sim::ClusterMeter& meter, model::TopologyLevel level);

}  // namespace capstan::experiment
