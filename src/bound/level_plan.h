#pragma once

#include <span>
#include <vector>

namespace capstan::bound {

/// A number of replicas for each bin, and the cost of this plan.
struct LevelPlan {
  std::vector<double> level;  ///< replicas by bin
  double paid = 0;            ///< sum of the levels, in bins of one replica
  double starts = 0;          ///< number of started replicas: the sum of all rises
};

/// Returns the cheapest plan that has at least `demand` replicas in each bin. A start costs as much as one replica for
/// `start_bins` bins. `initial` replicas exist before the first bin.
///
/// Each level is planned separately: the k-th replica is needed in the bins whose demand is at least k. It is kept
/// through the gap between two such bins if the gap is at most `start_bins` long. The function runs in linear time: a
/// level that ends is pushed onto a stack, and popped when it is needed again.
LevelPlan cheapest_levels(std::span<const double> demand, double start_bins, double initial);

}  // namespace capstan::bound
