#pragma once

#include <array>
#include <string>
#include <string_view>

#include "plan/sections/sections.h"

// The applied scaler of each service, and the commands that install it with everything that it needs.
namespace capstan::plan {

/// Folders below replicas/, one for each kind of scaler.
inline constexpr std::array<std::string_view, 3> kScalerOptions = {"capstan", "keda", "hpa"};

/// Returns the folder of `kScalerOptions` whose scaler the plan applies. Empty for a constant fleet: no scaler is
/// applied, and the workload states its replicas.
std::string_view scaler_option(const ServicePlan& service);

/// Returns the folder of `kScalerOptions` whose scaler serves a load above the planned one, if the plan chose a
/// constant fleet: that of the ScaledObject, or of the InferenceScaler if the ScaledObject was not simulated.
std::string_view spare_scaler_option(const ServicePlan& service);

/// Says of a constant fleet that `apply.sh` applies no autoscaler, which one serves a higher load, and what that one
/// costs on the simulated load. Empty for another fleet.
std::string no_scaler_words(const ServicePlan& service);

/// Returns true if a service uses the scaler of a folder.
bool uses_scaler(const PlanFacts& facts, std::string_view option);

/// Returns true if the scaler of a folder is only written for a load above the planned one: no service uses such a
/// scaler, and it is the `spare_scaler_option` of a constant fleet.
bool is_spare_scaler(const PlanFacts& facts, std::string_view option);

/// Returns the alternative of a manifest that belongs to one of the scalers of a service.
Alternative scaler_alternative(const ServicePlan& service, std::string_view option);
/// Returns the alternative of a manifest that the scalers of one kind share, such as the rules of prometheus-adapter.
/// The alternative is chosen if a service uses such a scaler.
Alternative shared_alternative(const PlanFacts& facts, std::string_view option);

/// Adds what the scalers of a section on replicas need: the values of the charts, the alternatives of its manifests,
/// and the commands that apply them.
void add_scaler_setup(const PlanFacts& facts, Section& section);

}  // namespace capstan::plan
