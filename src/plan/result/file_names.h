#pragma once

#include <string>
#include <string_view>

#include "plan/result/plan.h"

// Names of the files that `--out` writes, which commands of the plan also name.
namespace capstan::plan {

/// The scenario of all services on one cluster.
inline constexpr std::string_view kTogetherFile = "together.yaml";

/// Returns the name of the file with the simulated scenario of a scaler: "scenario-chat.yaml" for the chosen one,
/// "scenarios/chat-hpa.yaml" for another.
std::string scenario_file(const ServicePlan& service, ScalerKind scaler);
/// Returns the name of the scenario with the autoscaler files as policies: "scenarios/chat-scalers.yaml".
std::string comparison_file(const ServicePlan& service);
/// Returns the name of the file with the scenario of a worse condition: "scenarios/chat-zone-us-east-1a-lost.yaml".
std::string worse_scenario_file(const ServicePlan& service, const Trial& trial);

}  // namespace capstan::plan
