#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/error.h"
#include "engine/step_model.h"
#include "engine/work.h"
#include "experiment/run/result.h"
#include "experiment/run/simulation.h"
#include "scenario/scenario.h"

namespace capstan::experiment {

/// The simulated engine of one role's replicas.
struct RoleEngine {
  std::unique_ptr<const engine::StepModel> model;
  std::unique_ptr<const engine::RequestWork> work;
};

/// One policy of a scenario under one seed, ready to be simulated. Owns the engine models that the setup points to.
struct PreparedRun {
  std::vector<RoleEngine> engines;  ///< engines by service of the catalog
  SimulationSetup setup;
};

PreparedRun prepare(const scenario::Scenario& scenario, const scenario::PolicySpec& policy, std::uint64_t seed);

/// Prepares and simulates a policy of a scenario.
Result<RunResult> run(const scenario::Scenario& scenario, const scenario::PolicySpec& policy, std::uint64_t seed,
                      const ProgressCallback& progress = {});

}  // namespace capstan::experiment
