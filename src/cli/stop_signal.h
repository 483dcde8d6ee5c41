#pragma once

#include "base/time.h"

// SIGINT and SIGTERM, for commands that run until one of them arrives.
namespace capstan::cli {

/// Interval at which a loop checks for these signals while it waits for something else.
constexpr Duration kStopPollInterval = std::chrono::milliseconds(250);

/// Counts both signals from now on, instead of ending the program. A signal also interrupts a wait for input.
void catch_stop_signals();

/// Returns the number of signals so far.
int stop_signals();

}  // namespace capstan::cli
