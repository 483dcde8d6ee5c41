#pragma once

#include "base/error.h"
#include "experiment/result.h"
#include "experiment/scenario.h"
#include "experiment/simulation.h"

namespace capstan::experiment {

struct RunOptions {
  bool verify = false;  ///< SimulationSetup::verify
};

/// One policy of a scenario, from its first request to its last. The simulated engine is the table's, perturbed by the
/// scenario's seed; every policy of a scenario meets the same one. Same scenario, same bytes.
/// @return an input error when the load's file is bad
Result<RunResult> run(const Scenario& scenario, const PolicySpec& policy, const RunOptions& options = {},
                      const ProgressCallback& progress = {});

}  // namespace capstan::experiment
