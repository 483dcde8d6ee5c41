#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>

#include "base/time.h"
#include "model/ids.h"
#include "sim/cluster/serving_hook.h"

namespace capstan::experiment {

/// The last two scraped readings of each replica and gateway. A controller may know no other readings. A reading
/// becomes visible some time after its scrape, and until then the reading before it is visible. A replica's duty cycle
/// covers the time since the previous scrape, or since the replica began to serve.
class ScrapeLog {
 public:
  template <typename Reading>
  struct TakenReading {
    Instant at = Instant::never();
    Reading reading{};
  };
  template <typename Reading>
  using LastTwo = std::array<TakenReading<Reading>, 2>;

  void begin(model::GangId gang, Instant at) { replicas_[gang].since = at; }  ///< the replica serves from now on
  void add(model::GangId gang, Instant at, const sim::EngineReading& engine) {
    Replica& replica = replicas_[gang];
    const std::int64_t duty = percent(engine.busy_total - replica.busy, at - replica.since);
    model::ReplicaSignals reading = engine.signals;
    reading.duty_cycle_percent = model::Signal::measured(duty);
    push(replica.readings, at, reading);
    replica.since = at;
    replica.busy = engine.busy_total;
  }
  void add(model::ServiceId service, Instant at, RequestCount waiting) { push(gateways_[service], at, waiting); }
  void forget(model::GangId gang) { replicas_.erase(gang); }

  const LastTwo<model::ReplicaSignals>* find(model::GangId gang) const {
    const auto found = replicas_.find(gang);
    return found == replicas_.end() ? nullptr : &found->second.readings;
  }
  const LastTwo<RequestCount>* find(model::ServiceId service) const {
    const auto found = gateways_.find(service);
    return found == gateways_.end() ? nullptr : &found->second;
  }

 private:
  struct Replica {
    LastTwo<model::ReplicaSignals> readings;
    Instant since{};  ///< moment of the last scrape; before the first one, moment at which the replica began to serve
    Duration busy{};
  };

  /// Returns the share of busy time, at most 100 %. The busy time of a step is counted at its end, so more busy time
  /// can be counted within an interval than the interval is long.
  static std::int64_t percent(Duration part, Duration whole) {
    if (whole <= Duration{}) return 0;
    const auto share = static_cast<__int128>(part.count()) * 100 / whole.count();
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(share), 0, 100);
  }
  template <typename Reading>
  static void push(LastTwo<Reading>& readings, Instant at, const Reading& reading) {
    readings = {readings[1], TakenReading<Reading>{at, reading}};
  }

  std::map<model::GangId, Replica> replicas_;
  std::map<model::ServiceId, LastTwo<RequestCount>> gateways_;
};

}  // namespace capstan::experiment
