#pragma once

#include <cstdint>
#include <map>

#include "base/time.h"
#include "model/snapshot.h"

namespace capstan::model {

/// The state of the load readings of a service's ready replicas, which says how far they can be trusted.
struct SignalHealth {
  std::int64_t silent = 0;  ///< ready replicas without a usable number of waiting requests
  Duration oldest{};        ///< age of the oldest reading; that of a missing reading is the time since its last value
  friend bool operator==(const SignalHealth&, const SignalHealth&) = default;
};

/// Returns the health of the signals by service. Services without a ready replica have no entry.
std::map<ServiceId, SignalHealth> signal_health(const Snapshot& snapshot);

}  // namespace capstan::model
