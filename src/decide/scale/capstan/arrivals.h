#pragma once

#include "base/time.h"
#include "decide/scale/capstan/capacity.h"
#include "decide/scale/capstan/load.h"
#include "decide/scale/capstan/memory.h"

namespace capstan::decide::scale {

/// Arriving prompts.
struct Arrivals {
  double tokens_per_s = 0;  ///< prompt tokens, queued prompts included; smoothed more if they are noisier
  double noise = 0;         ///< relative random deviation of the arrivals in 15 s
};

/// Updates the mean of arrivals. The noisier the arrivals, the longer the time over which the mean is taken. A rise
/// that is larger than the noise replaces the mean at once, and a fall of that size replaces it after a block of 15 s.
/// The noise is the larger of two values: one follows from the number of prompts, the other is measured, because a few
/// prompts may be a thousand times as long as the others. The measured variance is half the mean square of the
/// difference between neighbouring 15 s blocks, so that a steady level adds nothing to it, and a slow trend almost
/// nothing.
Arrivals learn_arrivals(const Load& load, const Shape& shape, Duration since_last, CapstanMemory& memory);

}  // namespace capstan::decide::scale
