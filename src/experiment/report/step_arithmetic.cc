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
  const auto order = [](const Candidate& one) { return std::tuple(-one.change, one.at, one.result, one.step); };
  std::ranges::sort(candidates, {}, order);
  std::vector<BudgetedPart> ordered;
  for (const Candidate& one : candidates) {
    ordered.push_back({one.result, one.step, results[one.result].scale_steps[one.step].arithmetic.size()});
  }
  return parts_within(ordered, results.size(), bytes_most);
}

}  // namespace capstan::experiment
