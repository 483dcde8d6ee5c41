#pragma once

#include <functional>

#include "base/time.h"

namespace capstan::net {

/// Where an event loop gets its time from. Tests hand in one that they turn by hand.
using Clock = std::function<Instant()>;

/// The machine's monotonic clock, as nanoseconds since an origin that is the same for every process until a reboot.
Clock machine_clock();

}  // namespace capstan::net
