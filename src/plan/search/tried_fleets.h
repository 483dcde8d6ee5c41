#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "experiment/result.h"
#include "plan/search/trials.h"

namespace capstan::plan {

/// A fleet of a search: a candidate, how far its minimum is raised, and its share of spot nodes.
struct FleetKey {
  std::size_t candidate = 0;  ///< index in the list of candidates
  ReplicaCount step = 1;      ///< minimum of the role with most replicas at the peak
  std::uint32_t spot_ppm = 0;
  friend auto operator<=>(const FleetKey&, const FleetKey&) = default;
};

/// A fleet, and what its simulations of the same load showed.
struct TriedFleet {
  FleetKey key{};
  FleetOption fleet{};
  std::vector<Trial> seeds{};                    ///< in the order of the seeds, from 1
  std::vector<ReplicaCount> mean_ready_milli{};  ///< by role, under the seed 1
  std::vector<ReplicaCount> peak_ready{};        ///< by role, under the seed 1
  bool holds_slo = true;                         ///< under every seed

  std::int64_t micro_usd_per_hour() const;  ///< mean over the seeds
  std::int64_t lowest_attainment_ppm() const;
  FrontierPoint point() const;
};

/// Returns true if `a` is the better choice: it holds the SLO and `b` does not, or both hold it and `a` costs less, or
/// neither holds it and `a` meets more. Ties go by cost, then by words.
bool is_better(const TriedFleet& a, const TriedFleet& b);

/// Returns the fleet with minimum and maximum of each role. The maximum is twice the need at the peak, within the
/// limits of the candidate.
FleetOption fleet_of(const std::vector<FleetCandidate>& candidates, const FleetKey& key);

/// Returns the smallest step at which the minimum of every role is its maximum.
ReplicaCount highest_step(const FleetCandidate& candidate);
/// Returns the step at which the minimum of every role is its need at the peak.
ReplicaCount peak_step(const FleetCandidate& candidate);

/// Adds the figures of one simulation.
void note_result(const experiment::RunResult& result, const model::Slo& slo, TriedFleet& tried);

/// Returns one point for each fleet, the cheapest first, with the efficient ones marked.
std::vector<FrontierPoint> frontier_of(const std::map<FleetKey, TriedFleet>& tried);

}  // namespace capstan::plan
