#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/time.h"
#include "experiment/run/result.h"
#include "swarm/verdict.h"
#include "swarm/world.h"

namespace capstan::swarm {

/// Totals over the worlds of one owner.
struct OwnerTally {
  std::int64_t worlds = 0;
  std::int64_t simulated_seconds = 0;
  std::map<int, std::int64_t> worlds_broken;  ///< number of worlds in which an invariant was broken, by invariant

  double simulated_hours() const { return static_cast<double>(simulated_seconds) / 3600; }
};

/// The results of a search so far.
class Tally {
 public:
  /// Counts a run.
  /// @return the broken invariants that the world's policies must keep
  std::vector<BrokenInvariant> add(const World& world, const experiment::RunResult& result);
  /// Counts a world that could not be read.
  void add_failure() { ++failures_; }

  const OwnerTally& tally_of(Owner owner) const { return owner == Owner::capstan ? capstan_ : baselines_; }
  /// Returns the number of worlds that broke an invariant which their policies must keep.
  std::int64_t violations() const { return violations_; }
  bool is_clean() const { return violations_ == 0 && failures_ == 0; }
  double simulated_hours() const { return capstan_.simulated_hours() + baselines_.simulated_hours(); }

  /// Returns one line for each owner.
  std::string to_text() const;

 private:
  OwnerTally capstan_, baselines_;
  std::int64_t violations_ = 0;
  std::int64_t failures_ = 0;
};

}  // namespace capstan::swarm
