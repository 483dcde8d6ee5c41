#pragma once

#include <cstdint>
#include <string_view>

#include "model/measure.h"
#include "model/replica_signals.h"

namespace capstan::model {

/// One signal of a replica: its name in files, its field and its largest value.
struct ReplicaSignal {
  std::string_view name;
  SignalField field;
  std::int64_t most;
};

/// Every signal of a replica. Code that hashes, ages, writes or reads signals loops over this list, so it omits none.
inline constexpr ReplicaSignal kReplicaSignals[] = {
#define CAPSTAN_REPLICA_SIGNAL(name, measure, page_max, description) \
  {#name, &ReplicaSignals::name, largest(Measure::measure)},
#include "model/signals.inc"
};

}  // namespace capstan::model
