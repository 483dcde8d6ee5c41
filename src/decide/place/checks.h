#pragma once

#include <string>

#include "decide/place/context.h"

namespace capstan::decide::place {

/// Counts again, from the snapshot, what the passes have decided so far. Returns the invariant (docs/invariants.md)
/// that does not hold, in words, or an empty text:
/// - 1: a gang is bound whole, inside one domain of its level (policy `gang`); a pod is bound at most once.
/// - 4: no node gives more GPUs than it has free, and no queue holds more than its limit. A bound pod's node is open,
///   admits the pod and is not being given back.
/// - 9: each gang that has a result has a reason, and only placed gangs and gangs that give up have actions.
std::string broken_invariant(const Context& context);

}  // namespace capstan::decide::place
