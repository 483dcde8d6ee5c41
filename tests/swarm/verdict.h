#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "experiment/run/result.h"
#include "swarm/world.h"

namespace capstan::swarm {

/// A counter of a result with the invariant that it counts (docs/invariants.md).
struct Counter {
  int invariant;
  const char* name;
  std::int64_t experiment::InvariantFigures::* times;
  bool holds_for_baselines;  ///< baselines must keep the invariant, too
};

/// Returns every counter of InvariantFigures.
std::span<const Counter> counters();

/// An invariant that a run broke, and how often.
struct BrokenInvariant {
  const Counter* counter = nullptr;
  std::int64_t times = 0;
};

/// Returns the invariants whose counters are not zero.
std::vector<BrokenInvariant> find_broken(const experiment::InvariantFigures& figures);

/// Returns true if a policy of this owner must never break the invariant.
bool is_violation(const BrokenInvariant& broken, Owner owner);

/// Returns text such as "broke invariant 4 (limit_exceeded) 2 times".
std::string to_text(const BrokenInvariant& broken);

}  // namespace capstan::swarm
