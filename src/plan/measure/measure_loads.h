#pragma once

#include <cstdint>

#include "base/error.h"
#include "plan/spec/spec.h"

namespace capstan::plan {

/// Measures the loads of a spec that state a Prometheus server, and replaces each of them by its measured load. Other
/// loads stay as they are.
/// @param now_ms  present time, milliseconds since 1970
/// @return an error that names the server and the query
Result<void> measure_loads(PlanSpec& spec, std::int64_t now_ms);

}  // namespace capstan::plan
