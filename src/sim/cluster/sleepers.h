#pragma once

#include <algorithm>
#include <map>
#include <set>

#include "base/time.h"
#include "model/ids.h"

namespace capstan::sim {

/// The gangs that are asleep, with the end of their sleep, and the gangs that will sleep once they are drained.
class Sleepers {
 public:
  /// Returns how many of `gangs` are asleep or will sleep once they are drained.
  std::int64_t count(const std::set<model::GangId>& gangs) const {
    return std::ranges::count_if(gangs,
                                 [&](model::GangId id) { return asleep_.contains(id) || will_sleep_.contains(id); });
  }
  bool is_asleep(model::GangId id) const { return asleep_.contains(id); }

  /// Notes that the gang will sleep once it is drained.
  void schedule_sleep(model::GangId id) { will_sleep_.insert(id); }
  bool will_sleep(model::GangId id) const { return will_sleep_.contains(id); }
  void fall_asleep(model::GangId id, Instant until) {
    will_sleep_.erase(id);
    asleep_[id] = until;
  }
  /// Returns true if the gang is asleep and has slept for the longest time allowed.
  bool has_slept_longest(model::GangId id, Instant now) const {
    const auto it = asleep_.find(id);
    return it != asleep_.end() && now >= it->second;
  }
  /// Forgets a gang that was woken or removed.
  void erase(model::GangId id) {
    will_sleep_.erase(id);
    asleep_.erase(id);
  }

 private:
  std::set<model::GangId> will_sleep_;
  std::map<model::GangId, Instant> asleep_;  ///< the value is the end of the sleep
};

}  // namespace capstan::sim
