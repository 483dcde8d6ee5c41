#pragma once

#include <vector>

#include "bound/corridor.h"
#include "bound/fleet_terms.h"

namespace capstan::bound {

/// The least replica time that passes through a corridor.
struct FleetBound {
  double least_s = 0;         ///< lower bound on replica time of any plan, starts and standing replicas included
  bool solved = false;        ///< false: the solver stopped early; `least_s` is still valid and could be higher
  std::vector<double> level;  ///< paid replicas by bin of such a plan, without starts; fractions of replicas
};

/// Solves a linear program over bins: progress of the work (inside the corridor), paid replicas above the standing
/// ones, how many of them start, and which jobs are dropped. The value is proved by the prices of its rows
/// (`LinearProgram::certified`), so that rounding or an early stop of the solver can only lower it.
FleetBound least_fleet(const Corridor& corridor, const FleetTerms& terms);

}  // namespace capstan::bound
