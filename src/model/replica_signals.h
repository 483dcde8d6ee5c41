#pragma once

#include "model/signal.h"

namespace capstan::model {

/// Scraped metrics of a replica's engine, one field for each signal of a replica in signals.inc. They are aged and may
/// be missing, so they differ from the true state.
struct ReplicaSignals {
#define CAPSTAN_REPLICA_SIGNAL(name, measure, page_max, description) Signal name{};
#include "model/signals.inc"
  friend bool operator==(const ReplicaSignals&, const ReplicaSignals&) = default;
};

/// Selects one of the signals.
using SignalField = Signal ReplicaSignals::*;

}  // namespace capstan::model
