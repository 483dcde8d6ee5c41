#pragma once

#include <functional>

#include "kube/wall_time.h"

namespace capstan::kube {

/// Returns the wall time. It is for times in objects, logs and queries of Prometheus, for the expiry of credentials,
/// and for the start of `Session::clock`. Tests replace it.
using WallClock = std::function<WallTime()>;

/// Returns the clock of the machine.
WallClock machine_wall_clock();

}  // namespace capstan::kube
