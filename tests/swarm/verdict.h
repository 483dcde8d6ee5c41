#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "experiment/result.h"
#include "swarm/world.h"

namespace capstan::swarm {

/// A counter of a result, the invariant that it counts (docs/invariants.md), and whether baselines must keep it, too.
struct Counter {
  int invariant;
  const char* name;
  std::int64_t experiment::InvariantFigures::* times;
  bool holds_for_baselines;
};

/// Every counter of InvariantFigures.
std::span<const Counter> counters();

/// An invariant that a run broke.
struct Broken {
  const Counter* counter = nullptr;
  std::int64_t times = 0;
};

/// The counters that are not zero.
std::vector<Broken> broken(const experiment::InvariantFigures& figures);

/// True if a policy of this owner must never break it.
bool is_violation(const Broken& broken, Owner owner);

/// "broke invariant 4 (limit_exceeded) 2 times".
std::string words(const Broken& broken);

}  // namespace capstan::swarm
