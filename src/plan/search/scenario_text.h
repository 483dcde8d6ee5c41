#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plan/objects/yaml.h"
#include "plan/search/fleet_candidates.h"

namespace capstan::plan {

/// A fleet of a candidate.
struct FleetOption {
  const FleetCandidate* candidate = nullptr;
  std::vector<ReplicaCount> minimum{};  ///< minimum replicas by role of the candidate
  std::vector<ReplicaCount> maximum{};  ///< maximum replicas by role of the candidate
  std::uint32_t spot_ppm = 0;           ///< share of the nodes above the minimum that are bought as spot, millionths
  std::uint32_t spot_base_ppm = 0;      ///< share of the nodes of the minimum that are bought as spot, millionths
  /// Capacity type of the nodes of the minimum that are not in the share `spot_base_ppm`; spot if the share is 100 %.
  model::CapacityType base = model::CapacityType::on_demand;
  ScalerKind scaler = ScalerKind::capstan;
  Yaml scale{"capstan"};  ///< value of the key `scale` of the policy in a scenario

  /// Returns the replicas of a role at the start of the load: as many as its first rate needs, within the bounds.
  ReplicaCount first_replicas(std::size_t role) const;
  /// Returns the replicas of all roles at the start of the load.
  ReplicaCount first_replicas() const;
  std::int64_t minimum_machines() const;
  std::int64_t maximum_machines() const;
  /// Returns the machines of the minimum that a separate pool buys as spot, rounded down to whole replicas. Returns 0
  /// if all machines of the minimum are spot, because then no separate pool is needed.
  std::int64_t spot_base_machines() const;
  /// Returns the machines that a separate pool buys as spot, rounded down to whole ones.
  std::int64_t spot_machines() const {
    return (maximum_machines() - minimum_machines()) * spot_ppm / 1'000'000 + spot_base_machines();
  }
  /// Returns true if a separate pool buys some of the machines above the minimum as spot.
  bool adds_spot() const { return spot_machines() > spot_base_machines(); }
  /// Returns true if any of its nodes may be reclaimed.
  bool has_spot() const { return spot_machines() > 0 || base == model::CapacityType::spot; }
  /// Returns true if all nodes are bought as spot, and the candidate itself has another capacity type as its base.
  bool is_all_spot() const { return base == model::CapacityType::spot && candidate->base != base; }
  /// Returns "H100, tensor parallel 4, p5.48xlarge, 3 to 8 replicas, 50 % of added nodes spot, HPA". Capstan's policy
  /// is not named.
  std::string words() const;
  /// Returns "H100, TP 4, p5.48xlarge, 2 to 4 prefill, 1 to 2 decode, added nodes 50 % spot, HPA".
  std::string short_words() const;
};

/// Differences between a simulation and the plan.
struct Conditions {
  std::optional<Duration> length{};  ///< length of the simulated part of the load; nothing: all of it
  std::int64_t load_percent = 100;
  std::int64_t start_percent = 100;  ///< length of cold starts and node launches, percent of the plan's
  /// Zone that is lost at `lost_at` for `ClusterSpec::zone_outage`; nothing: no zone is lost.
  std::optional<std::string> lost_zone{};
  Duration lost_at{};
  /// Chance that a spot node is reclaimed within an hour, millionths; nothing: the chance that the spec states.
  std::optional<std::uint32_t> reclaims_ppm{};
};

/// Returns the policy of a scenario for the scaler of a fleet.
Yaml scenario_policy(const PlanSpec& spec, const FleetOption& fleet, const Conditions& conditions = {});

/// Returns a scenario that simulates the fleet under its scaler.
Yaml scenario_yaml(const PlanSpec& spec, const ServiceSpec& service, const FleetOption& fleet, const LoadFacts& load,
                   const Conditions& conditions = {});
/// Returns the text of this scenario.
inline std::string scenario_text(const PlanSpec& spec, const ServiceSpec& service, const FleetOption& fleet,
                                 const LoadFacts& load, const Conditions& conditions = {}) {
  return scenario_yaml(spec, service, fleet, load, conditions).document();
}

}  // namespace capstan::plan
