#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/time.h"
#include "experiment/result.h"
#include "swarm/verdict.h"
#include "swarm/world.h"

namespace capstan::swarm {

/// What the worlds of one owner came to.
struct OwnerTally {
  std::int64_t worlds = 0;
  std::int64_t simulated_seconds = 0;
  std::map<int, std::int64_t> worlds_broken;  ///< by invariant: worlds in which it was broken

  double simulated_hours() const { return static_cast<double>(simulated_seconds) / 3600; }
};

/// What a search has found so far.
class Tally {
 public:
  /// Counts a run. @return what it broke that its owner must keep
  std::vector<Broken> add(const World& world, const experiment::RunResult& result);
  /// Counts a world that could not be read or that never ended.
  void add_failure() { ++failures_; }

  const OwnerTally& of(Owner owner) const { return owner == Owner::capstan ? own_ : baselines_; }
  std::int64_t violations() const { return violations_; }  ///< worlds in which an owner's invariant was broken
  bool clean() const { return violations_ == 0 && failures_ == 0; }
  double simulated_hours() const { return own_.simulated_hours() + baselines_.simulated_hours(); }

  /// One line for each owner.
  std::string words() const;

 private:
  OwnerTally own_, baselines_;
  std::int64_t violations_ = 0;
  std::int64_t failures_ = 0;
};

}  // namespace capstan::swarm
