#pragma once

#include <string>

#include "decide/provision/context.h"

namespace capstan::decide::provision {

/// Counts again, from the snapshot and memory, what the passes have decided so far. Returns the invariant
/// (docs/invariants.md) that does not hold, in words, or an empty text:
/// - 2: with the policy `when_empty`, only nodes without pods are terminated. A node on which a pod is expected is not
///   terminated, and each node is terminated at most once.
/// - 4: no launch exceeds a limit, and no offering is bought while it is in backoff.
/// - 6: a group is released once, and only if it is marked as released.
std::string broken_invariant(const Context& context);

}  // namespace capstan::decide::provision
