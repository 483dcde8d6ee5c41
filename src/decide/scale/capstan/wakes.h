#pragma once

#include "decide/scale/capstan/load.h"
#include "decide/scale/capstan/memory.h"
#include "decide/scale/capstan/sizing.h"

namespace capstan::decide::scale {

/// For how long nothing may be asked for before there is anything to be won by stopping: a start has to be paid for.
Duration sleeps_after(Duration lead);

/// How long a start keeps requests waiting beyond what the SLO allows the first token, or the whole request where only
/// that is bounded. Nothing where the SLO bounds neither: who waits then misses nothing.
Duration late_for(const model::Slo& slo, Duration lead);

/// What came since the last decision, for the history of wakes.
struct Came {
  double requests = 0;      ///< whose prompts were computed
  double queued = 0;        ///< requests that wait, in engines and at the gateway
  double request_s = 0;     ///< of a replica's time that is planned for one
  Duration late_for{};      ///< a start now
  Duration sleeps_after{};  ///< so long an idleness
};

/// Adds to the episode under way, or begins one after so long an idleness that nothing needed to run in it. To be
/// called while there is a load, before the memory notes when that was last so.
void note_came(const Came& came, CapstanMemory& memory, Instant now);

/// The least replicas that have to stay warm while nothing is asked for, so that the requests which would be late at
/// the wakes that are remembered fit into what the SLO lets miss. With so many warm, all early requests of an episode
/// count as late which asked for more; with none, all early requests of every one. Nothing remembered: none.
/// @param target  the share of the requests to be met
WarmSizing minimum_warm(const CapstanMemory& memory, double target, Duration late_for, Instant now);

}  // namespace capstan::decide::scale
