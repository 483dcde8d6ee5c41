#pragma once

#include "base/time.h"
#include "decide/scale/capstan/memory.h"

namespace capstan::decide::scale {

/// Observations about the SLO, made for one decision.
struct SloObservation {
  double missed_share = 0;  ///< estimated share of requests that miss the SLO
  double utilization = 0;   ///< utilization of the replicas; 1: at their capacity
  double target_share = 0;  ///< share of requests that must meet the SLO
  bool as_planned = false;  ///< true: at least as many replicas serve as were planned, and few requests wait
  Duration since_last{};
};

/// Adjusts the safety margins by the error budget. Requests that miss the SLO raise the margins, and requests that meet
/// it lower them (adaptive conformal inference, Gibbs and Candes 2021). The margins settle at fewer misses than the SLO
/// allows, because not every miss is observed. If even mostly idle replicas miss more than is allowed, their share of
/// misses is left out, because more replicas would not help.
///
/// There are two margins. Safety, in spreads of the demand, covers forecast errors. Slack covers interference between
/// requests within a replica, such as a short prompt behind a long one. Slack grows only by misses that occur while as
/// many replicas serve as were planned.
void adjust_safety_margins(const SloObservation& observed, CapstanMemory& memory);

}  // namespace capstan::decide::scale
