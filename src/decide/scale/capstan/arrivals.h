#pragma once

#include "base/time.h"
#include "decide/scale/capstan/capacity.h"
#include "decide/scale/capstan/load.h"
#include "decide/scale/capstan/memory.h"

namespace capstan::decide::scale {

/// Prompts that arrive.
struct Arrivals {
  double tokens_per_s = 0;  ///< those that join a queue included; smoothed over what one prompt more or less makes
  double noise = 0;         ///< relative deviation of what fifteen seconds bring, which says nothing of the load
};

/// Follows what arrives. How much of its ups and downs is chance follows from the number of prompts, and, since a few
/// of them may be a thousand times as long as the others, from what was seen: half the mean square of what one quarter
/// of a minute differs by from the next, which neither level nor trend adds to. The more of it is chance, the longer
/// the mean remembers, but where arrivals jump or fall beyond it.
Arrivals learn_arrivals(const Load& load, const Shape& shape, Duration since_last, CapstanMemory& memory);

}  // namespace capstan::decide::scale
