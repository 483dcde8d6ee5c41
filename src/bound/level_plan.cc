#include "bound/level_plan.h"

#include <algorithm>
#include <cstddef>

namespace capstan::bound {
namespace {

/// A range of levels that ended in the same bin. The k-th level is the use of the k-th replica over time. The range
/// extends from `top` down to the `top` of the range that is above it on the stack. The range at the top of the stack
/// extends down to the levels in use.
struct EndedLevels {
  double top = 0;       ///< upper end of these levels, in replicas
  std::size_t bin = 0;  ///< first bin in which these levels are not used
};

/// Numbers of replicas that are added in intervals of bins. `add_to` adds the sum of each bin in one pass.
class BinIntervals {
 public:
  explicit BinIntervals(std::size_t bins) : change_(bins + 1) {}
  void add(std::size_t from, std::size_t to, double height) {
    change_[from] += height;
    change_[to] -= height;
  }
  void add_to(std::vector<double>& level) const {
    double height = 0;
    for (std::size_t i = 0; i < level.size(); ++i) level[i] += height += change_[i];
  }

 private:
  std::vector<double> change_;
};

}  // namespace

LevelPlan cheapest_levels(std::span<const double> demand, double start_bins, double initial) {
  LevelPlan plan;
  plan.level.assign(demand.begin(), demand.end());
  BinIntervals bridged(demand.size());
  std::vector<EndedLevels> ended;  // a stack; on top are the levels directly above `current`
  double current = initial;
  for (std::size_t bin = 0; bin < demand.size(); ++bin) {
    if (demand[bin] < current) ended.push_back({current, bin});
    while (current < demand[bin]) {
      // The plan rises in steps: through the levels that ended last, then through earlier ended levels, and
      // last through levels on which no replica has run yet.
      const double top = ended.empty() ? demand[bin] : std::min(demand[bin], ended.back().top);
      const bool known = !ended.empty();
      if (known && static_cast<double>(bin - ended.back().bin) <= start_bins) {
        bridged.add(ended.back().bin, bin, top - current);
      } else {
        plan.starts += top - current;
      }
      if (known && ended.back().top <= demand[bin]) ended.pop_back();
      current = top;
    }
    current = demand[bin];
  }
  bridged.add_to(plan.level);
  for (const double level : plan.level) plan.paid += level;
  return plan;
}

}  // namespace capstan::bound
