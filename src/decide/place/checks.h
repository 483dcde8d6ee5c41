#pragma once

#include <string>

#include "decide/place/context.h"

namespace capstan::decide::place {

/// Counts again, from the snapshot, what the passes have decided so far. Returns the invariant (docs/invariants.md)
/// that does not hold, in words, or an empty text:
/// - 1: a gang is bound whole, inside one domain of its level (policy `gang`); a pod is bound at most once.
/// - 4: no node gives more GPUs than it has free. The node of a bound pod is open, admits the pod and is not being
///   given back. A queue of a bound pod has no fault and holds at most its limit.
/// - 9: a gang with actions has a result, a placed gang has a binding, each result names its gang, and each shortfall
///   states a lack.
std::string broken_invariant(const Context& context);

}  // namespace capstan::decide::place
