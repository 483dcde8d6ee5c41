#pragma once

#include <string>
#include <vector>

#include "manifest/fields.h"

namespace capstan::scenario {

/// One row of `policies:` with settings of its own in place of those that are stated.
struct Swept {
  manifest::Node node;  ///< without `sweep`
  std::string words;    ///< "target 24, window 60s"; empty: as it is stated
};

/// A policy as it stands, then with every combination of the values that its `sweep` gives:
///   sweep: {scale.target_ongoing_requests: [8, 16], scale.upscale_delay_s: [0, 30]}
/// Paths are those of `--set` within the policy; one that begins with `manifest.` changes the file that
/// `scale.manifest` names.
std::vector<Swept> expand(const manifest::Node& policy, manifest::Verdict& verdict);

}  // namespace capstan::scenario
