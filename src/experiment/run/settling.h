#pragma once

#include <cstdint>

#include "base/time.h"
#include "experiment/run/simulation.h"
#include "model/snapshot.h"

namespace capstan::experiment {

/// Returns true if nothing disturbs the run from outside after its load has ended: no action is refused or lost, no
/// reading is lost, no node is taken, and no bound changes over the day.
bool can_stand_still(const SimulationSetup& setup);

/// Returns the time after the last outside change within which the fleet may still change: eight lead times but at
/// least two hours, plus the longest configured wait of each kind (stabilization or cool-down, sleep, consolidation).
/// @param longest_start  longest start of a replica in this run so far, which is the lead time that the policies know
Duration settling_time(const SimulationSetup& setup, Duration longest_start = {});

/// Returns true if there may be no room for the wanted replicas. It is so in three cases: the wanted and the sleeping
/// replicas need more GPUs of a kind than the nodes without a pool and the nodes within the pools' limits have, the
/// wanted replicas need more GPUs than a queue allows, or a service must be spread over domains that may not exist.
bool is_out_of_room(const SimulationSetup& setup, const model::Snapshot& truth);

/// Checks invariant 12: when goal and world do not change, the fleet reaches its goal, and then nothing changes. Only a
/// load without requests counts as unchanged, because arrivals are random and a closed loop depends on the fleet.
class Settling {
 public:
  /// The state at the end of a minute.
  struct MinuteState {
    bool has_work = false;        ///< a request arrived within the minute, or a request or job has not ended
    std::int64_t refused = 0;     ///< launches that failed for lack of capacity since the start of the run
    std::int64_t actions = 0;     ///< actions that were submitted since the start of the run
    ReplicaCount missing = 0;     ///< wanted replicas that do not serve, and serving replicas that are not wanted
    bool is_out_of_room = false;  ///< there may be no room for the wanted replicas
    Duration longest_start{};     ///< longest start of a replica since the start of the run
  };

  /// @param setup  must outlive this object
  explicit Settling(const SimulationSetup& setup);

  /// Checks the state at the end of a minute. Call it once a minute.
  void minute(Instant now, const MinuteState& state);

  /// Returns the number of actions that were submitted after the settling time, plus one for each time without requests
  /// in which the goal was not reached.
  std::int64_t broken() const { return moves_ + goals_missed_; }

 private:
  const SimulationSetup& setup_;
  bool can_stand_still_;
  Instant unchanged_since_{};
  std::int64_t actions_before_ = 0;
  std::int64_t refused_before_ = 0;
  std::int64_t moves_ = 0;
  std::int64_t goals_missed_ = 0;
  bool goal_judged_ = false;  ///< true: the goal was checked in the current time without requests
};

}  // namespace capstan::experiment
