#pragma once

#include <string>
#include <vector>

#include "plan/result/plan.h"

namespace capstan::plan {

/// Something that apply.sh needs and does not install.
struct Prerequisite {
  std::string name{};    ///< "Karpenter"
  std::string test{};    ///< shell command that succeeds if it is there
  std::string part{};    ///< what the test looks for: "nodepools.karpenter.sh"; empty: the name says it
  std::string remedy{};  ///< command or page that installs it
};

/// Returns what the chosen commands need: programs, variables, the components that define the applied kinds, the
/// Secrets for gated models, and the volumes with models that the plan does not download. Kinds that Kubernetes itself
/// defines need no component.
std::vector<Prerequisite> prerequisites(const Plan& plan);

/// Returns the names of the prerequisites in the cluster, each once: "Karpenter", "KEDA", "access to MODEL" for the
/// Secret of a gated model.
std::vector<std::string> needed_components(const Plan& plan);

/// Returns the lines of apply.sh that test the prerequisites. They name each missing one with its remedy, and end the
/// script if one is missing.
std::string prerequisite_check(const Plan& plan);

}  // namespace capstan::plan
