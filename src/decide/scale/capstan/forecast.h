#pragma once

#include "base/time.h"
#include "decide/scale/capstan/memory.h"

namespace capstan::decide::scale {

/// Expected demand at the end of the lead time, in replicas.
struct Outlook {
  double forecast = 0;  ///< predicted demand, at least the demand now
  double forecast_error =
      0;              ///< recent deviation of demand above its forecasts, relative; never below an assumed drift
  double safety = 0;  ///< safety margin, in multiples of `forecast_error`
  double slack = 0;   ///< headroom for interference between requests within a replica, relative
  double needed = 0;  ///< forecast x (1 + sqrt(slack^2 + (safety x forecast_error)^2))
};

/// Returns the safety margin beyond a forecast over the horizon, relative to the forecast.
double safety_margin(const CapstanMemory& memory, Duration horizon);

/// Updates the demand history and returns the demand to prepare for. Level and trend come from two fading means of
/// different length; the errors of earlier forecasts over the same horizon give the spread.
/// @param noise  relative deviation of the demand that chance alone explains
Outlook look_ahead(double demand, double noise, Duration horizon, Duration since_last, CapstanMemory& memory,
                   Instant now);

/// Returns the highest need from `since` until now. The result may be too high but never too low: entries are merged
/// at the latest of their times, so a need may count for up to a quarter longer than it should.
double highest_need(const CapstanMemory& memory, Instant since);
/// Stores the need at `now` and drops entries older than `longest`.
void record_need(double needed, Duration longest, CapstanMemory& memory, Instant now);

}  // namespace capstan::decide::scale
