#pragma once

#include "base/time.h"

// SIGINT and SIGTERM, for commands that run until they are told to end.
namespace capstan::cli {

/// Who waits for something else looks for them this often.
constexpr Duration kLook = std::chrono::milliseconds(250);

/// From now on both are counted in place of ending the program; what waits for input is woken.
void catch_stop_signals();

/// How often one has come.
int stop_signals();

}  // namespace capstan::cli
