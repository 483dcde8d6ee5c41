#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plan/pools/pools.h"

// The jobs of the tenants, on the nodes of the plan.
namespace capstan::plan {

/// A class of jobs with the pool whose nodes it uses.
struct PlacedJobs {
  const TenantSpec* tenant = nullptr;
  const TenantJobs* jobs = nullptr;
  const GpuPool* pool = nullptr;
  workload::JobSize size{};    ///< size, with defaults for the pods and GPUs that the spec leaves out
  bool is_on_one_node = true;  ///< true: all pods fit one node; false: they share a zone
};

/// Returns the classes of jobs that fit a pool of whole GPUs, each with its pool: the pool that has nodes for jobs,
/// else the largest one.
std::vector<PlacedJobs> placed_jobs(const PlanSpec& spec, const std::vector<GpuPool>& pools);

/// Returns the classes whose pods fit no node of the pools, each as a noun phrase with the reason.
std::vector<std::string> unplaced_jobs(const PlanSpec& spec, const std::vector<GpuPool>& pools);

/// Returns the name of the pool whose nodes the first class of jobs uses; empty if no jobs fit a pool. The other
/// classes use the same pool, unless one of the classes needs larger nodes.
std::string pool_of_jobs(const PlanSpec& spec, const std::vector<GpuPool>& pools);

/// Returns true if the scheduler of the plan ends jobs for gangs with a higher priority.
bool has_preemption(const PlanSpec& spec);

}  // namespace capstan::plan
