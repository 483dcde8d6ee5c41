#pragma once

#include <cstddef>
#include <vector>

#include "bound/step_prices.h"
#include "engine/step_model.h"

namespace capstan::bound {

/// A step of which `work` is what counts, and the least time that such a step takes: other sequences may decode beside
/// it. Those make most steps longer; but what a prompt adds to a large batch can be less than it takes alone.
struct StepCorner {
  StepWork work;
  double time_ps = 0;
  std::size_t kind = 0;  ///< the same for corners that are found in the same way; below kCornerKinds
};
inline constexpr std::size_t kCornerKinds = 512;

/// The corners of the step model. Between them the least time of a step is linear in the KV that is read, and concave
/// or linear in prompt tokens, for each number of decoding sequences: what a linear price is allowed at all of them it
/// is allowed everywhere.
std::vector<StepCorner> step_corners(const engine::StepModel& model, const StepLimits& limits);

}  // namespace capstan::bound
