#include "model/pool.h"

#include <algorithm>

#include "model/bounds_window.h"

namespace capstan::model {
namespace {

bool applies(const DisruptionBudget& budget, Instant now) {
  if (!budget.start) return true;
  return BoundsWindow{.start = *budget.start, .duration = budget.duration, .min = {}, .max = {}}.applies_within(now,
                                                                                                                now);
}

}  // namespace

std::int64_t most_terminating(const Pool& pool, std::int64_t nodes, std::int64_t share_ppm, Instant now) {
  const auto share = [nodes](std::int64_t ppm) { return ceil_div(nodes * ppm, 1'000'000); };
  if (!pool.budgets) return share(share_ppm);
  std::int64_t most = nodes;
  for (const DisruptionBudget& budget : *pool.budgets) {
    if (!applies(budget, now)) continue;
    if (budget.nodes) most = std::min(most, *budget.nodes);
    if (budget.share_ppm) most = std::min(most, share(*budget.share_ppm));
  }
  return most;
}

}  // namespace capstan::model
