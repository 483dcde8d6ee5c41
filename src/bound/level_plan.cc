#include "bound/level_plan.h"

#include <algorithm>
#include <cstddef>

namespace capstan::bound {
namespace {

/// Levels that ended at one bin: those up to `top`, above what ended later.
struct Ended {
  double top = 0;       ///< the highest of them
  std::size_t bin = 0;  ///< the first without them
};

/// Adds a constant to a stretch of bins at a time; the sums are taken at the end.
class Stretches {
 public:
  explicit Stretches(std::size_t bins) : change_(bins + 1) {}
  void add(std::size_t from, std::size_t to, double height) {
    change_[from] += height;
    change_[to] -= height;
  }
  void onto(std::vector<double>& level) const {
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
  Stretches bridged(demand.size());
  std::vector<Ended> ended;  // the level that is next above the present one is on top
  double now = initial;
  for (std::size_t bin = 0; bin < demand.size(); ++bin) {
    if (demand[bin] < now) ended.push_back({now, bin});
    while (now < demand[bin]) {
      // Up to the top of what ended last, then what ended before that; above all of it nothing ever ran.
      const double top = ended.empty() ? demand[bin] : std::min(demand[bin], ended.back().top);
      const bool known = !ended.empty();
      if (known && static_cast<double>(bin - ended.back().bin) <= start_bins) {
        bridged.add(ended.back().bin, bin, top - now);
      } else {
        plan.starts += top - now;
      }
      if (known && ended.back().top <= demand[bin]) ended.pop_back();
      now = top;
    }
    now = demand[bin];
  }
  bridged.onto(plan.level);
  for (const double level : plan.level) plan.kept += level;
  return plan;
}

}  // namespace capstan::bound
