#include "experiment/run/seed_check.h"

#include <algorithm>
#include <utility>

#include "experiment/run/ranking.h"

namespace capstan::experiment {
namespace {

SeedOutcome outcome_of(std::uint64_t seed, const RunResult& result, const model::Slo& slo) {
  return {.seed = seed,
          .attainment_ppm = result.attainment_ppm(),
          .holds_slo = holds_slo(result, slo),
          .micro_usd = result.total_micro_usd()};
}

}  // namespace

std::int64_t SeedCheck::held() const { return std::ranges::count(outcomes, true, &SeedOutcome::holds_slo); }

Result<std::vector<SeedCheck>> check_seeds(const scenario::Scenario& scenario, std::span<const RunResult> results,
                                           ExtraRuns& extra) {
  const model::Slo& slo = scenario.service().slo;
  std::vector<scenario::Scenario> others;
  for (std::uint64_t i = 1; i < kCheckedSeeds; ++i) {
    scenario::Scenario& other = others.emplace_back(scenario);
    other.seed += i;
    other.policies.clear();
  }
  std::vector<SeedCheck> checks;
  for (const RunResult& result : results) {
    if (!holds_slo(result, slo) || checks.size() == kMaxCheckedPolicies || !extra.has_budget()) break;
    const scenario::PolicySpec* policy = find_policy(scenario, result.policy);
    if (policy == nullptr) break;
    std::vector<PlannedRun> planned;
    for (const scenario::Scenario& other : others) planned.push_back({.scenario = &other, .policy = policy});
    const Result<std::vector<RunResult>> runs = extra.run(planned, "other seeds");
    if (!runs) return std::unexpected(runs.error());
    SeedCheck& check = checks.emplace_back(result.policy, std::vector{outcome_of(scenario.seed, result, slo)});
    for (std::size_t i = 0; i < runs->size(); ++i) {
      check.outcomes.push_back(outcome_of(others[i].seed, (*runs)[i], slo));
    }
    if (check.holds_with_all()) break;
  }
  return checks;
}

}  // namespace capstan::experiment
