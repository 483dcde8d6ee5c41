#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "experiment/result.h"
#include "swarm/verdict.h"
#include "swarm/world.h"

namespace capstan::swarm {

/// Simulates worlds from the text of tests/swarm/world.yaml.
class Runner {
 public:
  explicit Runner(std::string base) : base_(std::move(base)) {}

  /// @param verify  also decides everything twice and checks every balance each minute, which takes twice as long
  /// @return an error where the world cannot be read: the draw is wrong then
  Result<experiment::RunResult> run(const World& world, bool verify) const;

  /// The same world without the changes that are not needed for this counter to show. Tries each change once, the last
  /// first.
  World reduced(const World& world, const Counter& counter, bool verify) const;

 private:
  std::string base_;
};

}  // namespace capstan::swarm
