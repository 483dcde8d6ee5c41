#pragma once

#include "base/error.h"
#include "plan/spec/spec.h"

namespace capstan::cli {

/// Measures the loads of a spec that state a Prometheus server, and replaces each of them by its measured load. Other
/// loads stay as they are.
/// @return an error that names the server and the query
Result<void> measure_loads(plan::PlanSpec& spec);

}  // namespace capstan::cli
