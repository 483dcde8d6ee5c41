#pragma once

#include "base/time.h"
#include "decide/scale/capstan/memory.h"

namespace capstan::decide::scale {

/// What demand may be at the end of the lead time, in replicas.
struct Outlook {
  double forecast = 0;  ///< no less than the demand now: a forecast only adds
  double spread = 0;    ///< how far demand was above its forecasts lately, relative
  double safety = 0;    ///< how many spreads are kept in hand
  double needed = 0;    ///< forecast x (1 + safety x spread)
};

/// Follows demand and says what to be ready for. Level and trend come from two fading means of different age; what they
/// missed over the same horizon before gives the spread.
/// @param noise  relative deviation that counting alone explains
Outlook look_ahead(double demand, double noise, Duration horizon, Duration since_last, CapstanMemory& memory,
                   Instant now);

/// The budget of misses drives the safety: each share of work that misses its SLO raises it, each that is met lowers it
/// by so much less that both balance at the target (adaptive conformal inference, Gibbs and Candes 2021). What replicas
/// miss that are half empty is no budget's business: more of them would miss it too.
/// @param use  how busy replicas are, 1: as they may be
void spend_budget(double missed_share, double use, double target_share, Duration since_last, CapstanMemory& memory);

/// The most that was needed over the window, up to now.
double most_needed(const CapstanMemory& memory, Instant since);
void note_need(double needed, Duration longest, CapstanMemory& memory, Instant now);

}  // namespace capstan::decide::scale
