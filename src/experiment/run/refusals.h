#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/cluster/cluster_meter.h"

namespace capstan::experiment {

/// Returns the warnings of a result, one sentence each: the cluster refused many actions, or the pods of replicas were
/// placed in several domains.
/// @param level  level of the domain that the pods of a replica have to share
std::vector<std::string> refusal_warnings(const sim::ClusterMeter& meter, std::string_view level);

}  // namespace capstan::experiment
