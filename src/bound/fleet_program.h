#pragma once

#include <vector>

#include "bound/corridor.h"
#include "bound/fleet_terms.h"

namespace capstan::bound {

/// Lower bound on the replica time of a fleet whose work stays within a corridor.
struct FleetBound {
  double least_s = 0;   ///< lower bound on replica time of any plan, starts and standing replicas included
  bool solved = false;  ///< false: the solver stopped early; `least_s` is still valid and could be higher
  /// Paid replicas by bin, without starts; can be fractions. They come from the solution of the linear program. If the
  /// solver stopped early, they come from a plan that does all work in the bin of its arrival.
  std::vector<double> level;
};

/// Solves a linear program. Its variables are, for each bin, the work done (within the corridor), the paid replicas
/// above the standing ones, the replicas that start, and the dropped jobs. The bound is computed from the prices of the
/// rows (`LinearProgram::certified`). Rounding or an early stop of the solver can therefore only lower it.
FleetBound least_fleet(const Corridor& corridor, const FleetTerms& terms);

}  // namespace capstan::bound
