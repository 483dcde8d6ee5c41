#pragma once

#include "lint/run.h"

namespace capstan::lint {

/// Removes the findings that people accepted, and reports each acceptance that matches no finding.
///
///   minReplicas: 0  # capstan:ignore scale-to-zero-no-warm-pool the batch queue holds requests
///
/// A comment is on the line of the finding, or alone on a line above with only empty lines and comments in between. An
/// annotation applies to a whole object: `lint.capstan.dev/ignore.RULE: "reason"`. The reason is required.
void suppress(Report& report, const Options& options);

}  // namespace capstan::lint
