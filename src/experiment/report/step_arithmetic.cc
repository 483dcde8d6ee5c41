#include "experiment/report/step_arithmetic.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <tuple>

#include "experiment/report/byte_budget.h"

namespace capstan::experiment {

std::vector<StepPositions> steps_with_arithmetic(const std::vector<RunResult>& results, std::size_t bytes_most) {
  struct Candidate {
    ReplicaCount change = 0;
    Instant at;
    std::size_t result = 0;
    std::size_t step = 0;
    std::size_t rank = 0;  ///< among the steps of its result
  };
  std::vector<Candidate> candidates;
  for (std::size_t r = 0; r < results.size(); ++r) {
    const std::vector<ScaleStep>& steps = results[r].scale_steps;
    std::map<std::string, ReplicaCount> before;  // by part
    for (std::size_t i = 0; i < steps.size(); ++i) {
      ReplicaCount& last = before[steps[i].part()];
      if (!steps[i].arithmetic.empty()) candidates.push_back({std::abs(steps[i].desired - last), steps[i].at, r, i});
      last = steps[i].desired;
    }
  }
  std::ranges::sort(candidates, {},
                    [](const Candidate& one) { return std::tuple(one.result, -one.change, one.at, one.step); });
  for (std::size_t i = 1; i < candidates.size(); ++i) {
    if (candidates[i].result == candidates[i - 1].result) candidates[i].rank = candidates[i - 1].rank + 1;
  }
  std::ranges::sort(candidates, {}, [](const Candidate& one) { return std::tuple(one.rank, one.result); });
  std::vector<BudgetedPart> ordered;
  for (const Candidate& one : candidates) {
    ordered.push_back({one.result, one.step, results[one.result].scale_steps[one.step].arithmetic.size()});
  }
  return parts_within(ordered, results.size(), bytes_most);
}

}  // namespace capstan::experiment
