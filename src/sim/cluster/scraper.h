#pragma once

#include <cstdint>
#include <map>
#include "base/known_row.h"

#include "sim/cluster/component.h"
#include "sim/cluster/serving_hook.h"

namespace capstan::sim {

/// The monitoring system: reads engines and gateways once per interval, loses some readings, and publishes the others
/// with their age.
class Scraper : Component {
 public:
  Scraper(Basics& basics, std::uint64_t seed, ServingHook& hook);

  /// Starts reading a replica that begins to serve. Its engine's counters start at zero.
  void begin(model::GangId id);
  /// Reads a paused replica again. Its engine's counters continue.
  void resume(model::GangId id) { known_row(targets_, id).is_read = true; }
  /// Stops reading a replica, and removes its signals.
  void pause(model::GangId id);
  void erase(model::GangId id) { targets_.erase(id); }

  // Events.
  void scrape();
  void publish();

  void add_draws(StateHash& hash) const { add_draw(hash, draws_); }

 private:
  struct Target {
    bool is_read = true;
    Instant scraped_at;       ///< time of the last scrape
    Duration scraped_busy{};  ///< busy time of the engine at the last scrape
    bool has_reading = false;
    Instant reading_at;
    model::ReplicaSignals reading;
  };
  struct Gateway {
    Instant reading_at;
    RequestCount waiting = 0;
  };

  void read_targets();
  void read(model::GangId id, Target& target);
  model::Signal aged(model::Signal signal, Instant measured) const;

  ServingHook& hook_;
  RandomStream draws_;
  std::map<model::GangId, Target> targets_;
  std::map<model::ServiceId, Gateway> gateways_;
};

}  // namespace capstan::sim
