#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/cluster/cluster_config.h"
#include "sim/cluster/cluster_meter.h"

namespace capstan::experiment {

/// A service or a class of jobs whose pods ask for GPUs.
struct NamedUser {
  std::string name;        ///< empty: it has the cluster alone, so no sentence has to name it
  std::string_view level;  ///< level of the domain that the pods of a gang have to share
};

/// Returns the users of the cluster, in the order of `sim::ClusterMeter::by_user`.
/// @param has_cluster_alone  true: one service has the cluster alone
std::vector<NamedUser> named_users(const sim::ClusterConfig& config, bool has_cluster_alone);

/// Returns the warnings of a result, one sentence each: the cluster refused many actions, or the pods of replicas were
/// placed in several domains. If several users share the cluster, each sentence names the users that it is about.
std::vector<std::string> refusal_warnings(const sim::ClusterMeter& meter, const std::vector<NamedUser>& users);

}  // namespace capstan::experiment
