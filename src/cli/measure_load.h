#pragma once

#include "base/error.h"
#include "plan/spec/spec.h"

namespace capstan::cli {

/// Measures the loads of a spec that state a Prometheus server, and replaces each by the measured one. Does nothing for
/// the other loads.
/// @return an error that names the server and the query
Result<void> measure_loads(plan::PlanSpec& spec);

}  // namespace capstan::cli
