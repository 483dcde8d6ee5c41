#pragma once

#include <span>
#include <string>
#include <vector>

#include "experiment/run/result.h"
#include "plan/fleet.h"

namespace capstan::plan {

/// Computes the cost of nodes that several services share, and sets the share of each service by the GPU time that its
/// pods hold. The simulations have each service on nodes of its own. Here the replicas of their minutes are added, and
/// the nodes that hold them are counted: a node that was bought stays for an hour after it was needed.
void share_nodes(std::vector<ServicePlan>& services);

/// Sets these shares again, now of the cost of the shared nodes in simulations of all services on one cluster. Does
/// nothing for services whose loads have different lengths, because the shorter load ends before the simulation.
/// @param results  results of the simulations, with the services in the same order
/// @param pool_of_jobs  the pool whose nodes the jobs use, too; empty: there are no jobs
void share_simulated_nodes(std::vector<ServicePlan>& services, std::span<const experiment::RunResult> results,
                           const std::string& pool_of_jobs);

}  // namespace capstan::plan
