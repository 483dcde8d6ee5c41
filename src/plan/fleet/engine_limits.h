#pragma once

#include "model/service.h"

namespace capstan::plan {

/// The limits of one engine step. The workloads set them as flags, the simulations run with them, and the capacity of a
/// replica is computed with them, so that the thresholds hold for the engine that is deployed. With 8,192 tokens in a
/// step, a long prompt needs few steps. 256 sequences are more than most SLOs allow.
inline constexpr model::StepLimits kEngineLimits{.max_seqs = 256, .max_batched_tokens = 8192};

}  // namespace capstan::plan
