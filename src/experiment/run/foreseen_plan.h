#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "base/quantity.h"
#include "base/time.h"

namespace capstan::experiment {

/// A function from a moment to the number of wanted replicas. It reads no signals.
using Script = std::function<ReplicaCount(Instant)>;

/// Returns a plan by time intervals as a script. Each level is raised by a share and rounded up to whole replicas. It
/// is wanted from `lead` before its interval until the interval's end, and bounded by `least` and `most`. The last
/// level applies until the end of the run.
Script foreseen_plan(std::span<const double> level, Duration bin, std::int64_t raised_ppm, Duration lead,
                     ReplicaCount least, ReplicaCount most);

}  // namespace capstan::experiment
