#pragma once

#include <array>
#include <cstddef>
#include <map>

#include "base/time.h"
#include "model/ids.h"
#include "sim/cluster/serving_hook.h"

namespace capstan::experiment {

/// The last two readings that scrapes took, by replica and by gateway: what a controller may know of them, and the only
/// thing that it may know. Two, since a reading is visible some time after its scrape and until the next one is.
class ScrapeLog {
 public:
  template <typename Reading>
  struct Taken {
    Instant at = Instant::never();
    Reading reading{};
  };
  template <typename Reading>
  using LastTwo = std::array<Taken<Reading>, 2>;

  void add(model::GangId gang, Instant at, const sim::EngineReading& reading) { push(replicas_[gang], at, reading); }
  void add(model::ServiceId service, Instant at, RequestCount waiting) { push(gateways_[service], at, waiting); }
  void forget(model::GangId gang) { replicas_.erase(gang); }

  const LastTwo<sim::EngineReading>* of(model::GangId gang) const { return find(replicas_, gang); }
  const LastTwo<RequestCount>* of(model::ServiceId service) const { return find(gateways_, service); }

 private:
  template <typename Reading>
  static void push(LastTwo<Reading>& readings, Instant at, const Reading& reading) {
    readings = {readings[1], Taken<Reading>{at, reading}};
  }
  template <typename Map, typename Key>
  static const typename Map::mapped_type* find(const Map& map, const Key& key) {
    const auto found = map.find(key);
    return found == map.end() ? nullptr : &found->second;
  }

  std::map<model::GangId, LastTwo<sim::EngineReading>> replicas_;
  std::map<model::ServiceId, LastTwo<RequestCount>> gateways_;
};

}  // namespace capstan::experiment
