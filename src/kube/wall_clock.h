#pragma once

#include <functional>

#include "kube/wall_time.h"

namespace capstan::kube {

/// Returns the wall time. It is used only for times in objects, which people read, and for the expiry of credentials.
/// Tests replace it.
using WallClock = std::function<WallTime()>;

/// Returns the clock of the machine.
WallClock machine_wall_clock();

}  // namespace capstan::kube
