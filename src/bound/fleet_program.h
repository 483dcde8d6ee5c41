#pragma once

#include <vector>

#include "bound/corridor.h"
#include "bound/fleet_terms.h"

namespace capstan::bound {

/// The least replica time in which a corridor can be passed through.
struct FleetBound {
  double least_s = 0;         ///< replica time that nobody undercuts, starts and standing replicas included
  bool solved = false;        ///< false: the solver gave up; `least_s` still holds, and could be higher
  std::vector<double> level;  ///< paid replicas by bin in which it could be done, starts apart; fractions of replicas
};

/// A linear program over bins: how far the work is (inside the corridor), paid replicas above the standing ones, how
/// many of them start, and which jobs are dropped. Its value is proved by the prices of its rows
/// (`LinearProgram::certified`), so rounding or an early end of the solver can only lower it.
FleetBound least_fleet(const Corridor& corridor, const FleetTerms& terms);

}  // namespace capstan::bound
