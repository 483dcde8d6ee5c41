#pragma once

#include <span>
#include <vector>

namespace capstan::bound {

/// Replicas by bin, and what they cost: the time that they are kept, and a start for every rise.
struct LevelPlan {
  std::vector<double> level;  ///< by bin, in replicas
  double kept = 0;            ///< bins x replicas
  double starts = 0;          ///< replicas that were started
};

/// The cheapest plan that never has fewer replicas than `demand`, where a start costs as much as `start_bins` bins of a
/// replica. `initial` replicas are there before the first bin.
///
/// It decomposes by level: the k-th replica is needed in the bins whose demand is at least k, and whether it is kept
/// through the gap between two of them depends on that gap alone, kept if it is not longer than a start. Linear time: a
/// level that ends is put on a stack, and taken off when it is needed again.
LevelPlan cheapest_levels(std::span<const double> demand, double start_bins, double initial);

}  // namespace capstan::bound
