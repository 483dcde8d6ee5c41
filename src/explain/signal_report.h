#pragma once

#include <string>
#include <vector>

#include "explain/signal_path.h"
#include "explain/slow_replica.h"

// The answer of `capstan explain signals`: the stages of the signals of a service, and its slowest replica.
namespace capstan::explain {

/// The load of one pod.
struct PodLoad {
  std::string pod;
  ReplicaLoad load;
};

/// Facts about a service and about the load of its pods.
struct GatheredSignals {
  SignalFacts facts;
  std::vector<PodLoad> loads;
};

/// Returns the load with the most waiting requests, which is the most likely to be slow; null without any.
const PodLoad* slowest(const std::vector<PodLoad>& loads);
/// Returns the answer as text or as a JSON document, with an end of line.
std::string signals_text(const GatheredSignals& gathered);
std::string signals_json(const GatheredSignals& gathered);

}  // namespace capstan::explain
