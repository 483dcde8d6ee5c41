#pragma once

#include <optional>

#include "plan/search/budget.h"
#include "plan/search/fleet_simulator.h"

// The choice of the scaler that sets the replicas: Capstan's policy, the plan's ScaledObject, its HPA, or no scaler if
// a fleet of constant size holds the SLO for less.
namespace capstan::plan {

/// A scaler's attainment may be at most this much below the attainment that the plan states, millionths.
inline constexpr std::int64_t kScalerShortfallPpm = 5'000;

/// The fleets that represent the scalers.
struct ScalerChoice {
  /// The cheapest fleet that holds the SLO under every seed. If none holds it, the fleet that meets most.
  FleetKey chosen{};
  FleetKey capstan{};                     ///< the fleet of Capstan's policy
  std::vector<ScalerVariant> variants{};  ///< in the order of `ScalerKind`
  std::string comparison{};               ///< scenario with the autoscaler files of the plan as its policies
};

/// Finds, on the machines of a fleet under Capstan's policy, a small minimum with which each other scaler holds the SLO
/// under every seed, and the smallest constant fleet that does. The cheapest of the four is chosen. At equal cost, a
/// constant fleet is preferred, then Capstan's policy, the ScaledObject and the HPA. The other scalers get a minimum
/// with which they reach the attainment of the chosen one, less `kScalerShortfallPpm`. If the constant fleet is chosen,
/// their minimum is at least its size, so that each of them can serve this load, and can add replicas when the load
/// grows.
/// @param plan plan of the service, with the roles, the start and the mean load of the fleet `capstan`
Result<ScalerChoice> choose_scaler(FleetSimulator& simulator, const FleetKey& capstan, const ServicePlan& plan,
                                   const SearchBudget& budget);

/// Finds the smallest constant fleet that holds the SLO on the machines of a fleet under Capstan's policy.
/// @return nothing if none is known to hold it
Result<std::optional<FleetKey>> find_constant_fleet(FleetSimulator& simulator, const FleetKey& capstan,
                                                    const SearchBudget& budget);

/// Returns `fleet` under the ScaledObject or the HPA that the plan writes for its minimum.
/// @param kind  `scaled_object` or `hpa`
FleetOption threshold_fleet(const PlanSpec& spec, const ServiceSpec& service, const ServicePlan& plan,
                            FleetOption fleet, ScalerKind kind);

/// Returns the fleet of a key, with the object of its scaler for the minimum of the key.
/// @param plan  plan of the service
FleetOption scaled_fleet(const FleetSimulator& simulator, const FleetKey& key, const ServicePlan& plan);

}  // namespace capstan::plan
