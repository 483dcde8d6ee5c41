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
          .micro_usd = result.total_micro_usd(),
          .simulated = result.simulated};
}

}  // namespace

std::int64_t SeedCheck::held() const { return std::ranges::count(outcomes, true, &SeedOutcome::holds_slo); }

const SeedOutcome& SeedCheck::worst() const {
  return *std::ranges::min_element(outcomes, {}, &SeedOutcome::attainment_ppm);
}

MicroUsd SeedCheck::mean_per_hour() const {
  __int128 micro_usd = 0, time = 0;
  for (const SeedOutcome& outcome : outcomes) micro_usd += outcome.micro_usd, time += outcome.simulated.count();
  constexpr __int128 kHour = 3'600'000'000'000;
  return {time <= 0 ? 0 : static_cast<std::int64_t>((micro_usd * kHour + time / 2) / time)};
}

MicroUsd SeedCheck::max_cost() const { return {std::ranges::max(outcomes, {}, &SeedOutcome::micro_usd).micro_usd}; }

Result<SeedCheck> check_policy(const scenario::Scenario& scenario, const scenario::PolicySpec& policy,
                               const RunResult& first, ExtraRuns& extra) {
  const model::Slo& slo = scenario.service().slo;
  std::vector<scenario::Scenario> others;
  for (std::uint64_t i = 1; i < kCheckedSeeds; ++i) {
    scenario::Scenario& other = others.emplace_back(scenario);
    other.seed += i;
    other.policies.clear();
  }
  std::vector<PlannedRun> planned;
  for (const scenario::Scenario& other : others) planned.push_back({.scenario = &other, .policy = &policy});
  const Result<std::vector<RunResult>> runs = extra.run(planned, "other seeds");
  if (!runs) return std::unexpected(runs.error());
  SeedCheck check{.policy = first.policy, .outcomes = {outcome_of(scenario.seed, first, slo)}};
  for (std::size_t i = 0; i < runs->size(); ++i) {
    check.outcomes.push_back(outcome_of(others[i].seed, (*runs)[i], slo));
  }
  return check;
}

Result<std::vector<SeedCheck>> check_seeds(const scenario::Scenario& scenario, std::span<const RunResult> results,
                                           ExtraRuns& extra) {
  std::vector<SeedCheck> checks;
  for (const RunResult& result : results) {
    if (!holds_slo(result, scenario.service().slo) || checks.size() == kMaxCheckedPolicies) break;
    const scenario::PolicySpec* policy = find_policy(scenario, result.policy);
    if (policy == nullptr || !extra.has_budget()) break;
    const SeedCheck* steady = cheapest_steady(checks);
    if (steady != nullptr && MicroUsd{result.total_micro_usd()} > steady->max_cost()) break;
    Result<SeedCheck> check = check_policy(scenario, *policy, result, extra);
    if (!check) return std::unexpected(std::move(check.error()));
    checks.push_back(std::move(*check));
  }
  return checks;
}

const SeedCheck* cheapest_steady(std::span<const SeedCheck> checks) {
  const SeedCheck* cheapest = nullptr;
  for (const SeedCheck& check : checks) {
    if (!check.holds_with_all()) continue;
    if (cheapest == nullptr || check.mean_per_hour() < cheapest->mean_per_hour()) cheapest = &check;
  }
  return cheapest;
}

void put_steady_first(std::span<const SeedCheck> checks, std::vector<RunResult>& results) {
  const SeedCheck* steady = cheapest_steady(checks);
  if (steady == nullptr) return;
  const auto found = std::ranges::find(results, steady->policy, &RunResult::policy);
  if (found != results.end()) std::rotate(results.begin(), found, found + 1);
}

}  // namespace capstan::experiment
