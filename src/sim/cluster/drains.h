#pragma once

#include <cstdint>
#include <map>
#include <vector>
#include "base/known_row.h"

#include "sim/cluster/component.h"
#include "sim/cluster/serving_hook.h"

namespace capstan::sim {

/// The next step of a replica after its drain.
enum class DrainPurpose : std::uint8_t { leave, convert };

class DrainListener {
 public:
  virtual ~DrainListener() = default;
  /// Reports that the replica holds no requests any more. The listener calls erase().
  virtual void drained(model::GangId gang, DrainPurpose purpose) = 0;
};

/// The replicas that have left the router and finish the requests that they hold. A drain longer than the grace period
/// is cut: the replica loses its requests.
class Drains : Component {
 public:
  Drains(Basics& basics, ServingHook& hook, DrainListener& listener);

  void begin(model::GangId id, DrainPurpose purpose);
  /// Makes a replica leave after the drain that it began for a conversion. The deadline stays.
  void leave_instead(model::GangId id) { known_row(drains_, id).purpose = DrainPurpose::leave; }
  void erase(model::GangId id) { drains_.erase(id); }
  bool contains(model::GangId id, DrainPurpose purpose) const;

  // Events.
  void poll();
  void deadline(model::GangId id);

 private:
  struct Drain {
    DrainPurpose purpose{};
    Instant cut_at;
  };
  void poll(DrainPurpose purpose);

  ServingHook& hook_;
  DrainListener& listener_;
  std::map<model::GangId, Drain> drains_;
  bool is_polling_ = false;  ///< a poll is scheduled
};

}  // namespace capstan::sim
