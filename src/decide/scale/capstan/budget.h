#pragma once

#include "base/time.h"
#include "decide/scale/capstan/memory.h"

namespace capstan::decide::scale {

/// What one decision learns of the SLO.
struct Spent {
  double missed_share = 0;  ///< of the requests, as it looks
  double use = 0;           ///< how busy replicas are, 1: as they may be
  double target_share = 0;  ///< of the work that the SLO wants met
  bool as_planned = false;  ///< as many replicas serve as were said to be needed, and nothing is worked off
  Duration since_last{};
};

/// The budget of misses drives what is kept in hand: each share of work that misses its SLO raises it, each that is met
/// lowers it by so much less that both balance at a part of what the target allows, as not all is seen (adaptive
/// conformal inference, Gibbs and Candes 2021). Where replicas that are more than half empty miss more than is allowed,
/// that much is no budget's business: more of them would miss it too.
///
/// Two things are kept in hand. Safety, in spreads of the demand, is for what the forecast did not see. Slack is for
/// what requests do to each other inside a replica, such as a short prompt behind a long one: it grows only by misses
/// that came while as many replicas served as were planned.
void spend_budget(const Spent& spent, CapstanMemory& memory);

}  // namespace capstan::decide::scale
