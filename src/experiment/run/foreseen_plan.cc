#include "experiment/run/foreseen_plan.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <utility>
#include <vector>

namespace capstan::experiment {
namespace {

/// A level that exceeds a whole number by at most this much counts as that number, because the solver's numbers are not
/// exact.
constexpr double kNoise = 1e-6;

/// Returns for each interval the highest level within the interval itself and the next `ahead` intervals.
std::vector<ReplicaCount> highest_ahead(const std::vector<ReplicaCount>& counts, std::size_t ahead) {
  std::vector<ReplicaCount> highest(counts.size());
  std::deque<std::size_t> candidates;  // later intervals in order, each higher than all before it
  for (std::size_t i = counts.size(); i-- > 0;) {
    while (!candidates.empty() && counts[candidates.front()] <= counts[i]) candidates.pop_front();
    candidates.push_front(i);
    while (candidates.back() > i + ahead) candidates.pop_back();
    highest[i] = counts[candidates.back()];
  }
  return highest;
}

}  // namespace

Script foreseen_plan(std::span<const double> level, Duration bin, std::int64_t raised_ppm, Duration lead,
                     ReplicaCount least, ReplicaCount most) {
  std::vector<ReplicaCount> counts;
  for (const double replicas : level) {
    const double raised = replicas * (1e6 + static_cast<double>(raised_ppm)) / 1e6;
    counts.push_back(std::clamp(static_cast<ReplicaCount>(std::ceil(raised - kNoise)), least, most));
  }
  if (counts.empty()) return [least](Instant) { return least; };
  // At any time within an interval, replicas are wanted for every interval that begins within one lead time.
  const auto ahead = static_cast<std::size_t>((lead + bin - Duration{1}) / bin);
  std::vector<ReplicaCount> asked = highest_ahead(counts, ahead);
  return [asked = std::move(asked), bin](Instant now) {
    return asked[std::min(static_cast<std::size_t>(now.since_start / bin), asked.size() - 1)];
  };
}

}  // namespace capstan::experiment
