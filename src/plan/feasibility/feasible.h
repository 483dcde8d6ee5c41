#pragma once

#include <string>
#include <vector>

#include "plan/spec/spec.h"

namespace capstan::plan {

/// A demand of a spec that nothing can meet.
struct ImpossibleDemand {
  std::string path{};     ///< path in the file: "services.0.slo.tpot"
  std::string message{};  ///< what is impossible, by how much, and the nearest that is possible
};

/// Returns the demands that no fleet can meet, from arithmetic alone: weights that fit no GPU, an SLO that is faster
/// than one step of the engine or than a prompt on an idle replica, and limits below the smallest fleet. A spec without
/// such demands may still be infeasible, which only a simulation can show.
std::vector<ImpossibleDemand> impossible_demands(const PlanSpec& spec);

}  // namespace capstan::plan
