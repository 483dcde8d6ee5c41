#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "plan/fleet/fleet.h"
#include "plan/search/search.h"

namespace capstan::plan {

/// Result of another autoscaler on the load and the nodes of a service's plan.
struct ScalerTrial {
  std::int64_t attainment_ppm = 0;      ///< lowest share of met requests over the plan's seeds, millionths
  std::int64_t micro_usd_per_hour = 0;  ///< mean cost over the plan's seeds
  std::int64_t simulations = 0;
  std::string refusal_reason{};  ///< reason why it cannot be simulated; empty: it was simulated
};

/// Returns the value of the key `labels` of a scenario's scaler, in flow style: the labels that the simulated series of
/// a role get. Without them, the queries of a manifest find nothing.
std::string scale_labels(const PlanSpec& spec, const ServiceSpec& service, model::Role role);

/// A scaler to simulate.
struct TriedScaler {
  std::string scale{};  ///< the policy's `scale`, as in a scenario
  /// Replicas that the scaler may set, by role. The simulated pools have room for them. A role without a value, or with
  /// a lower one than in the plan, has the maximum of the plan's scalers.
  std::vector<ReplicaCount> maxima{};
};

/// Simulates a policy in place of the plan's, under the plan's seeds. The simulations start with the replicas of the
/// plan, but have the minimum of the policy. They have the load and the machine types of the plan, and nodes may be
/// added also if the plan has a constant fleet. A scaler whose queries find no series is refused.
Result<ScalerTrial> try_scaler(const ServicePlan& service, const TriedScaler& scaler, const SearchOptions& options);

}  // namespace capstan::plan
