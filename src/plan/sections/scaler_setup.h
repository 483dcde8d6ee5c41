#pragma once

#include <array>
#include <string>
#include <string_view>

#include "plan/sections/sections.h"

// The applied scaler of each service, and the commands that install it with everything that it needs.
namespace capstan::plan {

/// Folders below replicas/, one for each kind of scaler.
inline constexpr std::array<std::string_view, 3> kScalerOptions = {"capstan", "keda", "hpa"};

/// Returns the folder of `kScalerOptions` whose scaler the plan applies. For a constant fleet the plan applies the
/// ScaledObject, or the InferenceScaler if the ScaledObject cannot be simulated, so that a load above the planned one
/// is served, too.
std::string_view scaler_option(const ServicePlan& service);
/// Says of a constant fleet which autoscaler `apply.sh` applies nevertheless, and what it costs on the simulated load:
/// it adds replicas at bursts, and is there for a higher load. Empty for another fleet.
std::string applied_scaler_words(const ServicePlan& service);

/// Returns true if a service uses the scaler of a folder.
bool uses_scaler(const PlanFacts& facts, std::string_view option);

/// Returns the alternative of a manifest that belongs to one of the scalers of a service.
Alternative scaler_alternative(const ServicePlan& service, std::string_view option);
/// Returns the alternative of a manifest that the scalers of one kind share, such as the rules of prometheus-adapter.
/// The alternative is chosen if a service uses such a scaler.
Alternative shared_alternative(const PlanFacts& facts, std::string_view option);

/// Adds what the scalers of a section on replicas need: the values of the charts, the alternatives of its manifests,
/// and the commands that apply them.
void add_scaler_setup(const PlanFacts& facts, Section& section);

}  // namespace capstan::plan
