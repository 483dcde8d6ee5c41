#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/known_row.h"
#include "base/random.h"
#include "experiment/run/prepare.h"
#include "experiment/run/result.h"
#include "experiment/run/simulation.h"
#include "scenario/scenario.h"

// Helpers for tests of runs.
namespace capstan::experiment {

/// Simulates the first policy of a scenario with seed 1 and keeps the history of its nodes and replicas.
inline RunResult run_with_history(const std::string& scenario_yaml) {
  const auto scenario = scenario::parse_scenario(scenario_yaml, CAPSTAN_SOURCE_DIR "/scenario.yaml", {});
  EXPECT_TRUE(scenario) << scenario.error().text();
  PreparedRun prepared = prepare(*scenario, scenario->policies.front(), 1);
  prepared.setup.keep_history = true;
  return simulate(prepared.setup).value();
}

/// Simulates one policy of a scenario with all checks.
/// @param policy  position in the scenario
inline RunResult run_verified(const scenario::Scenario& scenario, std::size_t policy, std::uint64_t seed) {
  PreparedRun prepared = prepare(scenario, known_row(scenario.policies, policy), seed);
  prepared.setup.verify = true;
  return simulate(prepared.setup).value();
}

/// Faults of a hostile world, as overrides of its scenario.
struct DrawnFaults {
  std::vector<std::string> sets;
  std::string words;  ///< the faults as options of `capstan compare`
};

/// Draws each fault with a probability of 35 %.
inline DrawnFaults draw_faults(std::span<const char* const> faults, RandomStream& coin) {
  DrawnFaults drawn;
  for (const char* fault : faults) {
    if (!coin.chance_ppm(350'000)) continue;
    drawn.sets.emplace_back(fault);
    drawn.words += std::string(" --set \"") + fault + '"';
  }
  return drawn;
}

}  // namespace capstan::experiment
