#pragma once

#include <span>
#include <string>
#include <vector>

#include "experiment/run/result.h"
#include "plan/fleet/fleet.h"

namespace capstan::plan {

/// Computes the cost of nodes that several services share, and sets the share of each service by the GPU time that its
/// pods hold. In the simulations, each service has nodes of its own. This function adds the replicas of the services in
/// each minute, and counts the nodes that hold them. A bought node stays for an hour after it was needed.
void share_nodes(std::vector<ServicePlan>& services);

/// Replaces the shares that `share_nodes` has set by shares of the cost of the nodes in simulations of all services on
/// one cluster. Does nothing for services whose loads have different lengths, because the shorter load ends before the
/// simulation.
/// @param results  results of the simulations, with the services in the same order
/// @param pool_of_jobs  the pool whose nodes the jobs use, too; empty: there are no jobs
void share_simulated_nodes(std::vector<ServicePlan>& services, std::span<const experiment::RunResult> results,
                           const std::string& pool_of_jobs);

}  // namespace capstan::plan
