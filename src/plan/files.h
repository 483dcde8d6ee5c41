#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "plan/plan.h"

namespace capstan::plan {

/// The scenario of all services on one cluster.
inline constexpr std::string_view kTogetherFile = "together.yaml";

/// A file that `--out` writes.
struct PlanFile {
  std::string path{};                ///< below the folder that `--out` names: "nodes/h100.yaml"
  std::vector<std::string> kinds{};  ///< kinds of its objects, or one phrase: "NodePool", "Helm values"
};

/// Returns the files that `--out` writes, except measured loads, in the order of the page: manifests, scenarios,
/// scripts, the page itself.
std::vector<PlanFile> list_plan_files(const Plan& plan);

/// Returns the name of the file with the simulated scenario of a scaler: "scenario-chat.yaml" for the chosen one,
/// "scenarios/chat-hpa.yaml" for another.
std::string scenario_file(const ServicePlan& service, ScalerKind scaler);
/// Returns the name of the scenario with the autoscaler files as policies: "scenarios/chat-scalers.yaml".
std::string comparison_file(const ServicePlan& service);
/// Returns the name of the file with the scenario of a worse condition: "scenarios/chat-zone-us-east-1a-lost.yaml".
std::string worse_scenario_file(const ServicePlan& service, const Trial& trial);

/// Returns the texts of the files that `--out` writes, by path: the page as plan.md, the scripts, the simulated
/// scenarios, the measured loads, and one file for each path that a manifest names, with the objects of that path as
/// several documents.
std::map<std::string, std::string> plan_files(const Plan& plan);

}  // namespace capstan::plan
