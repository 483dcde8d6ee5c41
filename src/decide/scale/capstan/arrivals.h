#pragma once

#include "base/time.h"
#include "decide/scale/capstan/capacity.h"
#include "decide/scale/capstan/load.h"
#include "decide/scale/capstan/memory.h"

namespace capstan::decide::scale {

/// Arriving prompts.
struct Arrivals {
  double tokens_per_s = 0;  ///< queued ones included; smoothed by as much as single prompts make it vary
  double noise = 0;  ///< relative deviation of 15 s arrival counts that is chance and says nothing about the load
};

/// Updates the mean of arrivals. The share of variation that is chance follows from the number of prompts and, because
/// a few prompts may be a thousand times as long as the others, from measurement: half the mean square of the
/// difference between neighbouring 15 s blocks, to which neither level nor trend contributes. The larger the share of
/// chance, the longer the mean remembers, unless arrivals jump or fall beyond it.
Arrivals learn_arrivals(const Load& load, const Shape& shape, Duration since_last, CapstanMemory& memory);

}  // namespace capstan::decide::scale
