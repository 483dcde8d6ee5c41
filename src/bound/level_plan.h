#pragma once

#include <span>
#include <vector>

namespace capstan::bound {

/// Replicas by bin and their cost: paid time, and a start for every rise.
struct LevelPlan {
  std::vector<double> level;  ///< by bin, in replicas
  double paid = 0;            ///< paid bins x replicas
  double starts = 0;          ///< started replicas
};

/// Returns the cheapest plan that never has fewer replicas than `demand`, if a start costs as much as `start_bins` bins
/// of a replica. `initial` replicas exist before the first bin.
///
/// The problem decomposes by level: the k-th replica is needed in the bins whose demand is at least k. It is kept
/// through the gap between two such bins if the gap is not longer than a start. Runs in linear time: a level that ends
/// is pushed onto a stack, and popped when it is needed again.
LevelPlan cheapest_levels(std::span<const double> demand, double start_bins, double initial);

}  // namespace capstan::bound
