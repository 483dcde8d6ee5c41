#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "experiment/run/result.h"
#include "swarm/verdict.h"
#include "swarm/world.h"

namespace capstan::swarm {

/// Simulates worlds from the text of tests/swarm/world.yaml.
class Runner {
 public:
  explicit Runner(std::string base) : base_(std::move(base)) {}

  /// Simulates a world.
  /// @param verify  repeats every decision and checks every balance each minute, which takes twice as long
  /// @return an error if the world cannot be read, which is a fault of draw()
  Result<experiment::RunResult> run(const World& world, bool verify) const;

  /// Returns the world without the changes that are not needed for a nonzero counter. Tries to remove each change once,
  /// the last one first.
  World reduced(const World& world, const Counter& counter, bool verify) const;

 private:
  std::string base_;
};

}  // namespace capstan::swarm
