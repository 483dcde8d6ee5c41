#pragma once

#include <nlohmann/json_fwd.hpp>

#include "experiment/run/run_history.h"

// The decisions about pods and nodes in a report (docs/reference/result.md).
namespace capstan::experiment {

/// Returns `actions`: the decisions of a run, in their order.
nlohmann::ordered_json lower_decisions_json(const RunHistory& history);

}  // namespace capstan::experiment
