#pragma once

#include <gtest/gtest.h>

#include <string>

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

}  // namespace capstan::experiment
