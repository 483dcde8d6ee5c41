#pragma once

#include <string>
#include <vector>

#include "plan/search/scenario_text.h"

namespace capstan::plan {

/// Returns the name of the scaler's folder below replicas/: "capstan", "keda" or "hpa"; empty for a constant fleet.
std::string_view scaler_folder(ScalerKind kind);

/// Returns the text of a scenario that has the autoscaler files of the plan as its policies, on the load and the nodes
/// of the plan. It is written to scenarios/, so the paths of the files begin with "../replicas/". The bounds of the
/// replicas are those of the files. All policies start with the same replicas: as many as the first rate needs, but at
/// least the largest minimum of the fleets.
/// @param fleets  fleet of each autoscaler that was simulated; at least one, and none of constant size
std::string comparison_text(const PlanSpec& spec, const ServiceSpec& service, const LoadFacts& load,
                            const std::vector<FleetOption>& fleets);

}  // namespace capstan::plan
