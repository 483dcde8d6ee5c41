#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "experiment/run/result.h"
#include "plan/search/trials.h"

namespace capstan::plan {

/// A fleet of a search: a candidate, how far its minimum is raised, its share of spot nodes, and its scaler.
struct FleetKey {
  std::size_t candidate = 0;  ///< index in the list of candidates
  /// Minimum replicas of the role that needs the most replicas at the peak. The minima of the other roles are in
  /// proportion to it.
  ReplicaCount step = 1;
  std::uint32_t spot_ppm = 0;
  ScalerKind scaler = ScalerKind::capstan;
  std::uint32_t spot_base_ppm = 0;  ///< share of the nodes of the minimum that are spot, millionths
  friend auto operator<=>(const FleetKey&, const FleetKey&) = default;
};

/// A fleet, and what its simulations of the same load showed.
struct TriedFleet {
  FleetKey key{};
  FleetOption fleet{};
  std::vector<Trial> seeds{};                   ///< trials in the order of the seeds
  std::vector<ReplicaCount> ready_milli_sum{};  ///< mean ready replicas by role, thousandths, summed over the seeds
  std::vector<ReplicaCount> peak_ready{};       ///< most ready replicas by role, under any seed
  bool holds_slo = true;                        ///< true: SLO and goodput of the spec hold under every seed

  std::int64_t micro_usd_per_hour() const;  ///< returns the mean cost over the seeds
  std::int64_t lowest_attainment_ppm() const;
  FrontierPoint point() const;
  /// Returns minimum, maximum and simulated replicas of each role.
  std::vector<RoleReplicas> replicas() const;
};

using TriedFleets = std::map<FleetKey, TriedFleet>;

/// Returns true if `a` is the better choice: it holds the SLO and `b` does not, or both hold it and `a` costs less, or
/// neither holds it and `a` meets more. Between equal fleets, cost decides, then attainment, then the order of
/// `words()`.
bool is_better(const TriedFleet& a, const TriedFleet& b);

/// Returns the fleet with minimum and maximum of each role. The maximum is twice the need at the peak and one more,
/// within the limits of the candidate; a constant fleet has its minimum as its maximum. `threshold_fleet` adds the
/// object of a ScaledObject or HPA.
FleetOption fleet_of(const std::vector<FleetCandidate>& candidates, const FleetKey& key);

/// Returns true if the limits of the candidate lower the maximum of its fleets.
bool limits_bind(const FleetCandidate& candidate);

/// Returns the machines that hold the maximum of its fleets without limits.
std::int64_t wanted_machines(const FleetCandidate& candidate);

/// Returns a step at which the minimum of every role is its maximum. A lower step may do so too, because minima are
/// rounded up.
ReplicaCount highest_step(const FleetCandidate& candidate);
/// Returns the step at which the minimum of every role is its need at the peak.
ReplicaCount peak_step(const FleetCandidate& candidate);

/// Adds the figures of one simulation.
/// @param is_whole  false: only a part of the load, which need not contain the busiest window
void note_result(const experiment::RunResult& result, const ServiceSpec& service, bool is_whole, TriedFleet& tried);

/// Returns one point for each fleet, the cheapest first, with the efficient ones, the chosen one and the runner-up
/// marked. Leaves out a fleet with a spot base that is better than the chosen one, because it misses the SLO under more
/// reclaims.
std::vector<FrontierPoint> frontier_of(const TriedFleets& tried, const FleetKey& chosen,
                                       const std::optional<FleetKey>& runner_up);

}  // namespace capstan::plan
