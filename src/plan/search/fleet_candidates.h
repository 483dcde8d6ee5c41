#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/quantity.h"
#include "plan/feasibility/remaining_limits.h"
#include "plan/fleet/capacity.h"
#include "plan/fleet/fleet.h"
#include "plan/search/load_facts.h"
#include "plan/spec/candidates.h"

// GPU kinds, parallelisms and machines on which a service can run, before anything is simulated.
namespace capstan::plan {

/// The replicas of one role of a candidate.
struct RoleNeed {
  model::Role role = model::Role::both;
  ReplicaCapacity capacity{};  ///< capacity of one replica for mean requests
  ReplicaCount at_mean = 1;    ///< replicas for the mean rate
  ReplicaCount at_peak = 1;    ///< replicas for the busiest window
  ReplicaCount at_first = 1;   ///< replicas for the rate at which the load begins
  ReplicaCount least = 1;      ///< smallest number of replicas, from the spec
};

struct FleetCandidate {
  engine::EngineRow engine{};
  MachineSpec machine{};
  model::CapacityType base = model::CapacityType::on_demand;  ///< capacity type of the nodes of the minimum
  std::vector<RoleNeed> needs{};                              ///< needs of the only role, or of prefill and decode
  ReplicaCount most_replicas = 1;    ///< largest number of replicas of all roles within the limits
  std::string bounded_by{};          ///< the lowest limit, which determines `most_replicas`
  double modelled_usd_per_hour = 0;  ///< cost at the mean rate
  std::int64_t peak_factor = 1;      ///< `RoleNeed::at_peak` is this multiple of the need by the engine table
  bool holds_slo = true;             ///< false: by the engine table, even a single request misses a bound

  /// Returns the price of one machine of the capacity type `base`.
  MicroUsd price() const { return *price_of(machine, base); }
  /// Returns the machines that one replica needs. The replica may use the last machine only in part.
  std::int64_t machines_per_replica() const { return ceil_div(engine.tp, machine.gpus); }
  std::int64_t machines_for(ReplicaCount replicas) const;
  ReplicaCount replicas_on(std::int64_t machines) const;
  /// Returns how many replicas fit into `gpus` GPUs of its machines; for MIG, `gpus` counts slices.
  ReplicaCount replicas_in(GpuCount gpus) const;
  /// Returns the GPUs of its machines that the service needs at the peak of its load; slices for MIG.
  GpuCount gpus_at_peak() const;
  /// Returns "H100, tensor parallel 4, p5.48xlarge".
  std::string words() const;
  /// Returns "H100, TP 4, p5.48xlarge".
  std::string short_words() const;
};

/// Returns the candidates, the lowest modelled cost first. Candidates that cannot hold the SLO by the engine table are
/// only returned if no other is left.
/// @return an infeasible error if no machine can hold a replica, if the limits leave no room for the smallest fleet, or
///     if the mean load needs more than ten times the replicas of the largest fleet of every candidate
Result<std::vector<FleetCandidate>> fleet_candidates(const PlanSpec& spec, const ServiceSpec& service,
                                                     const LoadFacts& load, const RemainingLimits& limits);

}  // namespace capstan::plan
