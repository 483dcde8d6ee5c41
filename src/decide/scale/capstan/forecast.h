#pragma once

#include "base/time.h"
#include "decide/scale/capstan/memory.h"

namespace capstan::decide::scale {

/// What demand may be at the end of the lead time, in replicas.
struct Outlook {
  double forecast = 0;  ///< no less than the demand now: a forecast only adds
  double spread = 0;    ///< how far demand was above its forecasts lately, relative; at least what a load drifts
  double safety = 0;    ///< how many spreads are kept in hand
  double slack = 0;     ///< how much emptier than they could be replicas are kept, relative
  double needed = 0;    ///< forecast x (1 + sqrt(slack^2 + (safety x spread)^2))
};

/// What is kept in hand beyond a forecast over such a horizon, relative to it.
double kept_in_hand(const CapstanMemory& memory, Duration horizon);

/// Follows demand and says what to be ready for. Level and trend come from two fading means of different age; what they
/// missed over the same horizon before gives the spread.
/// @param noise  relative deviation that counting alone explains
Outlook look_ahead(double demand, double noise, Duration horizon, Duration since_last, CapstanMemory& memory,
                   Instant now);

/// The most that was needed over the window, up to now: never less than it was, and no more than over a window that is
/// longer by a quarter.
double most_needed(const CapstanMemory& memory, Instant since);
void note_need(double needed, Duration longest, CapstanMemory& memory, Instant now);

}  // namespace capstan::decide::scale
