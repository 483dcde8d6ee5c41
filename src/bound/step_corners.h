#pragma once

#include <cstddef>
#include <vector>

#include "bound/step_prices.h"
#include "engine/step_model.h"

namespace capstan::bound {

/// A point of the step model at which prices are checked: an amount of counted work, and the least time of any step
/// that contains it. The step may also decode sequences of requests that are not counted. They usually make the step
/// longer, but a prompt can add less time to a large batch than it takes alone.
struct StepCorner {
  StepWork work;
  double time_ps = 0;
  std::size_t kind = 0;  ///< number of the rule in `step_corners` that gave this corner; below kCornerKinds
};
inline constexpr std::size_t kCornerKinds = 512;

/// Returns the corners of the step model. For each number of decoding sequences, the least time of a step between two
/// corners is linear in the KV tokens read, and linear or concave in the prompt tokens. A linear price that is at most
/// the time at every corner is therefore at most the time of every step.
std::vector<StepCorner> step_corners(const engine::StepModel& model, const StepLimits& limits);

}  // namespace capstan::bound
