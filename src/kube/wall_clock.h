#pragma once

#include <functional>

#include "kube/wall_time.h"

namespace capstan::kube {

/// Where wall times come from: only what is written into objects for people, and when credentials expire. Tests hand in
/// their own.
using WallClock = std::function<WallTime()>;

/// The machine's.
WallClock machine_wall_clock();

}  // namespace capstan::kube
