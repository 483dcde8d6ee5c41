#include "model/signal_health.h"

#include <algorithm>

namespace capstan::model {

std::map<ServiceId, SignalHealth> signal_health(const Snapshot& snapshot) {
  std::map<ServiceId, SignalHealth> by_service;
  snapshot.gangs.for_each([&](GangId id, const Gang& gang) {
    if (!gang.service.valid() || gang.phase != Gang::Phase::ready) return;
    const Signal& waiting = snapshot.signals_of(id).waiting;
    SignalHealth& health = by_service[gang.service];
    health.silent += waiting.usable() ? 0 : 1;
    health.oldest = std::max(health.oldest, waiting.age);
  });
  return by_service;
}

}  // namespace capstan::model
