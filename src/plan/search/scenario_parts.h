#pragma once

#include "plan/queues/tenant_jobs.h"
#include "plan/search/scenario_text.h"

// Parts of the scenarios that the plan simulates: of one service alone, and of all services together.
namespace capstan::plan {

/// Returns the value of the key `load` of a service.
Yaml load_yaml(const LoadSpec& load, const LoadFacts& facts, const Conditions& conditions);
/// Returns a service with its SLO, its replicas and their start, without its load.
Yaml service_yaml(const PlanSpec& spec, const ServiceSpec& service, const FleetOption& fleet,
                  const Conditions& conditions);
/// Returns a class of jobs.
/// @param has_queue  true: the queue of the tenant limits its pods
/// @param has_preemption  true: the scheduler knows priorities
/// @param until  time after which no job arrives
Yaml job_class_yaml(const PlacedJobs& placed, bool has_queue, bool has_preemption, Duration until);
/// Returns a machine with its shape and its price.
Yaml machine_yaml(const MachineSpec& machine, model::CapacityType capacity);
/// Returns a pool that buys machines of one type.
/// @param most  most machines of the pool
Yaml pool_yaml(const MachineSpec& machine, const std::string& name, std::int64_t most, model::CapacityType capacity);

/// Machines of one type that run when a simulation starts.
struct InitialMachines {
  const MachineSpec* machine = nullptr;
  model::CapacityType base = model::CapacityType::on_demand;  ///< capacity type of the machines
  std::string pool{};                                         ///< pool of the bought machines
  std::string spot_pool{};                                    ///< pool of the machines that are bought as spot
  std::int64_t needed = 0;                                    ///< machines that the first replicas need
  std::int64_t spot = 0;                                      ///< machines of `needed` that are bought as spot
  std::int64_t unit = 1;                                      ///< machines of one replica, which are in one zone
};
/// Adds the nodes that run when a simulation starts, spread over the zones in turn: all existing machines, and the
/// machines that must be bought for the first replicas.
void add_initial_nodes(const ClusterSpec& cluster, const InitialMachines& standing, Yaml& list);
/// Adds the bandwidth of a node and, for a cluster with spot nodes, the chance that one is reclaimed.
/// @param reclaims_ppm  chance that a spot node is reclaimed within an hour, millionths
void add_cluster_facts(std::uint32_t reclaims_ppm, bool has_spot, Yaml& cluster);
/// Returns the value of the key `provision` of a policy.
Yaml provision_yaml(const PlanSpec& spec, const Conditions& conditions);

}  // namespace capstan::plan
