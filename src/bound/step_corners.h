#pragma once

#include <cstddef>
#include <vector>

#include "bound/step_prices.h"
#include "engine/step_model.h"

namespace capstan::bound {

/// The counted work of a step, and the least time of any step that contains it: other sequences may decode in the same
/// step. They make most steps longer; but a prompt can add less time to a large batch than it takes alone.
struct StepCorner {
  StepWork work;
  double time_ps = 0;
  std::size_t kind = 0;  ///< equal for corners found in the same way; below kCornerKinds
};
inline constexpr std::size_t kCornerKinds = 512;

/// Returns the corners of the step model. Between them the least time of a step is linear in the KV read, and concave
/// or linear in prompt tokens, for each number of decoding sequences: a linear price that holds at all corners holds
/// everywhere.
std::vector<StepCorner> step_corners(const engine::StepModel& model, const StepLimits& limits);

}  // namespace capstan::bound
