#pragma once

#include <string>
#include <vector>

#include "manifest/fields.h"

namespace capstan::scenario {

/// A row of `policies:` with one combination of the values of its `sweep`.
struct SweptPolicy {
  manifest::Node node;  ///< without `sweep`
  std::string words;    ///< "target 24, window 60s"; empty for the row without a sweep
};

/// Returns a policy without its sweep, followed by the policy with each combination of the values of the sweep:
///   sweep: {scale.target_ongoing_requests: [8, 16], scale.upscale_delay_s: [0, 30]}
/// Paths are written as in `--set` and start at the policy. A path that begins with `manifest.` changes the manifest
/// that `scale.manifest` names.
std::vector<SweptPolicy> expand(const manifest::Node& policy, manifest::ErrorList& errors);

}  // namespace capstan::scenario
