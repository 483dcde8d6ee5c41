#pragma once

#include "decide/scale/capstan/load.h"
#include "decide/scale/capstan/memory.h"
#include "decide/scale/capstan/sizing.h"

namespace capstan::decide::scale {

/// Returns the idle time after which stopping a replica is worth the cost of the next start.
Duration sleeps_after(Duration lead);

/// Returns how long a cold start delays a request beyond what the SLO allows for the first token, or for the whole
/// request if only that is bounded. The result is 0 if the SLO bounds neither.
Duration late_for(const model::Slo& slo, Duration lead);

/// Load since the last decision, for the history of wakes.
struct NewLoad {
  double requests = 0;      ///< requests whose prompts were computed
  double queued = 0;        ///< requests waiting in engines and at the gateway
  double request_s = 0;     ///< planned replica time per request
  Duration late_for{};      ///< time by which a cold start now would delay a request beyond the SLO
  Duration sleeps_after{};  ///< idle time that ends an episode
};

/// Adds the load to the current episode, or to a new one after an idle time of at least `sleeps_after`. Call it while
/// there is load, before `last_used` is updated.
void record_arrivals(const NewLoad& load, CapstanMemory& memory, Instant now);

/// Returns the fewest replicas that must stay warm while the service is idle, so that the remembered episodes of load
/// use at most half of the SLO's error budget. If the early requests of an episode needed more replicas than stay warm,
/// all of them count as late. The result is 0 if no episode is remembered.
/// @param target  share of requests that must meet the SLO
WarmSizing minimum_warm(const CapstanMemory& memory, double target, Duration late_for, Instant now);

}  // namespace capstan::decide::scale
