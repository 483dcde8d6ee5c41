#pragma once

#include "lint/run.h"

namespace capstan::lint {

/// Takes out the findings that somebody has accepted, and reports what was accepted and is not found (any more):
///
///   minReplicas: 0  # capstan:ignore scale-to-zero-no-warm-pool the batch queue holds requests
///
/// on the line itself or on its own line above it; of a whole object by an annotation,
/// `lint.capstan.dev/ignore.RULE: "reason"`. A reason is not optional.
void suppress(Report& report, const Options& options);

}  // namespace capstan::lint
