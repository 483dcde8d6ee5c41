#pragma once

#include <span>
#include <string>

#include "plan/search/scenario_text.h"

namespace capstan::plan {

/// A service with its load and the fleet that it has.
struct ServiceFleet {
  const ServiceSpec* service = nullptr;
  const LoadFacts* load = nullptr;
  FleetOption fleet{};
};

/// Returns the text of a scenario in which all services share one cluster with the pools and the limits of the plan,
/// each under its own scaler, next to the jobs that the tenants describe.
/// @param plans   plans by service of the spec, with the minima of the fleets
/// @param fleets  fleets by service of the spec
std::string together_text(const PlanSpec& spec, const std::vector<ServicePlan>& plans,
                          std::span<const ServiceFleet> fleets);

}  // namespace capstan::plan
