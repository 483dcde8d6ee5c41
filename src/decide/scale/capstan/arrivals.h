#pragma once

#include "base/time.h"
#include "decide/scale/capstan/capacity.h"
#include "decide/scale/capstan/load.h"
#include "decide/scale/capstan/memory.h"

namespace capstan::decide::scale {

/// Arriving prompts.
struct Arrivals {
  double tokens_per_s = 0;  ///< mean of the arriving prompt tokens, queued prompts included
  double noise = 0;         ///< relative random deviation of the arrivals in 15 s
};

/// Updates the mean of arrivals. The noisier the arrivals, the longer the time over which the mean is taken. If a
/// reading exceeds the mean by far more than the noise, the mean becomes this reading at once. If the mean of a 15 s
/// block is as far below, the mean becomes that of the block.
///
/// The noise is the larger of two values. The first follows from the number of prompts. The second is measured, because
/// a few prompts may be a thousand times as long as the rest. The measured variance is half the mean square of the
/// difference between neighbouring 15 s blocks. A steady level adds nothing to it, and a slow trend adds almost
/// nothing.
Arrivals learn_arrivals(const Load& load, const Shape& shape, Duration since_last, CapstanMemory& memory);

}  // namespace capstan::decide::scale
