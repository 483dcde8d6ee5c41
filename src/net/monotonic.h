#pragma once

#include <functional>

#include "base/time.h"

namespace capstan::net {

/// Returns the current time for an event loop. Tests replace it.
using Clock = std::function<Instant()>;

/// Returns the machine's monotonic clock. Its origin is the same for all processes until a reboot.
Clock machine_clock();

}  // namespace capstan::net
