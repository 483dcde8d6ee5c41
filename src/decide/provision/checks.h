#pragma once

#include <string>

#include "decide/provision/context.h"

namespace capstan::decide::provision {

/// Counts again, from the snapshot and memory, what the passes have decided so far. Returns the invariant
/// (docs/invariants.md) that does not hold, in words, or an empty text:
/// - 2: no foreign node is terminated. Each node is terminated at most once, and memory keeps the termination. With the
///   policy `when_empty`, a terminated node has no pods, and no pod is expected on it.
/// - 4: no launch exceeds a limit, and no offering is bought while it is in backoff.
/// - 6: a launch has at least one node. A group is released once, and only if it is marked as released.
/// - 9: no action belongs to another layer, and the sum of the launched GPUs is right.
std::string broken_invariant(const Context& context);

}  // namespace capstan::decide::provision
