#pragma once

#include <map>
#include <string>
#include <vector>

#include "plan/result/file_names.h"
#include "plan/result/plan.h"

namespace capstan::plan {

/// A file that `--out` writes.
struct PlanFile {
  std::string path{};                ///< below the folder that `--out` names: "nodes/h100.yaml"
  std::vector<std::string> kinds{};  ///< kinds of its objects, or one phrase: "NodePool", "Helm values"
};

/// Returns the files that `--out` writes, except measured loads, in the order of the page: manifests, scenarios,
/// scripts, the page itself.
std::vector<PlanFile> list_plan_files(const Plan& plan);

/// Returns the texts of the files that `--out` writes, by path: the page as plan.md, the scripts, the simulated
/// scenarios, the measured loads, and one file for each path that a manifest names, with the objects of that path as
/// several documents.
std::map<std::string, std::string> plan_files(const Plan& plan);

}  // namespace capstan::plan
