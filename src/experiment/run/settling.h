#pragma once

#include <cstdint>

#include "base/time.h"
#include "experiment/run/simulation.h"
#include "model/snapshot.h"

namespace capstan::experiment {

/// True if nothing from outside disturbs the run once its load stands still: no action is refused or lost, no reading
/// is lost, no node is taken, no bound changes with the hour.
bool can_stand_still(const SimulationSetup& setup);

/// Returns how long a fleet may move after the last change from outside: eight lead times, at least two hours, and the
/// longest time that its policies are told to wait (stabilization, cool-down, sleep, consolidation).
/// @param longest_start  longest start of a replica in this run so far; it is the lead time that the policies know
Duration settling_time(const SimulationSetup& setup, Duration longest_start = {});

/// True if the replicas that are asked for may have no place: they and those that sleep need more GPUs of a kind than
/// whole nodes within the pools' limits have, or they must be spread over domains that may not be there.
bool is_out_of_room(const SimulationSetup& setup, const model::Snapshot& truth);

/// Invariant 12: when goal and world stand still, the fleet reaches its goal and then nothing moves. The load stands
/// still while there are no requests. (Arrivals are drawn, and a closed loop answers to what the fleet does.)
class Settling {
 public:
  /// What is so at the end of a minute.
  struct Look {
    bool has_requests = false;    ///< a request arrived within the minute, or is held
    std::int64_t refused = 0;     ///< launches that met a capacity error since the start of the run
    std::int64_t actions = 0;     ///< submitted since the start of the run
    ReplicaCount missing = 0;     ///< replicas that are asked for and do not serve, or serve and are not asked for
    bool is_out_of_room = false;  ///< what is asked for may have no place
    Duration longest_start{};     ///< longest start of a replica since the start of the run
  };

  /// @param setup  must outlive this object
  explicit Settling(const SimulationSetup& setup);

  /// Once a minute.
  void minute(Instant now, const Look& look);

  /// Actions submitted after the settling time, and one for each stretch without requests whose goal was not reached.
  std::int64_t broken() const { return moves_ + goals_missed_; }

 private:
  const SimulationSetup& setup_;
  bool can_stand_still_;
  Instant still_since_{};
  std::int64_t actions_before_ = 0;
  std::int64_t refused_before_ = 0;
  std::int64_t moves_ = 0;
  std::int64_t goals_missed_ = 0;
  bool goal_judged_ = false;  ///< in this stretch
};

}  // namespace capstan::experiment
