#pragma once

#include "base/time.h"
#include "decide/scale/capstan/memory.h"

namespace capstan::decide::scale {

/// Observations of one decision about the SLO.
struct SloObservation {
  double missed_share = 0;  ///< estimated share of requests that miss the SLO
  double use = 0;           ///< utilization of the replicas; 1: at their capacity
  double target_share = 0;  ///< share of the work that must meet the SLO
  bool as_planned = false;  ///< true: as many replicas serve as were planned, and few requests wait
  Duration since_last{};
};

/// Adjusts the safety margins by the error budget. Work that misses its SLO raises them and work that meets it lowers
/// them (adaptive conformal inference, Gibbs and Candes 2021). They settle at fewer misses than the SLO allows, because
/// not every miss is observed. If mostly idle replicas miss more than is allowed, their share of misses is left out,
/// because more replicas would not help.
///
/// There are two margins. Safety, in spreads of the demand, covers forecast errors. Slack covers interference between
/// requests within a replica, such as a short prompt behind a long one. Slack grows only by misses that occur while as
/// many replicas serve as were planned.
void spend_budget(const SloObservation& observed, CapstanMemory& memory);

}  // namespace capstan::decide::scale
