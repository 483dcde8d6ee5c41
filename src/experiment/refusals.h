#pragma once

#include <string>
#include <vector>

#include "model/topology.h"
#include "sim/cluster/cluster_meter.h"

namespace capstan::experiment {

/// What a result's row warns of where the cluster did not do what a policy asked for again and again, or did what a
/// placement should not have asked for: one sentence each.
/// @param level  the domain that a replica's pods have to share
std::vector<std::string> refusal_warnings(const sim::ClusterMeter& meter, model::TopologyLevel level);

}  // namespace capstan::experiment
