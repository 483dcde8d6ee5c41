#pragma once

#include <cstddef>
#include <cstdint>

#include "base/quantity.h"
#include "base/time.h"
#include "model/ids.h"
#include "model/replica_signals.h"

namespace capstan::sim {

/// A replica that begins to serve.
struct ReplicaStart {
  model::GangId gang;
  model::ServiceId service;
  std::uint32_t ordinal = 0;
  Duration weights{};  ///< time in which its engine loaded the weights; 0: the replica was warm or resumed
};

/// The causes for which a replica that holds requests, or a batch job, ends early. A spot interruption is forced. The
/// others follow from a decision.
enum class Interruption : std::uint8_t {
  termination,  ///< its node was given back
  eviction,     ///< a pod of it was evicted
  grace_over,   ///< it drained for longer than the grace period
  spot,         ///< the provider took its node
  preemption,   ///< a batch job ended for a gang with a higher priority
};
inline constexpr std::size_t kInterruptions = 5;

/// The values that an engine reports at one moment.
struct EngineReading {
  /// The signals that the engine's metrics page shows at this moment, so their age is 0. GPU duty cycle and memory use
  /// are missing, because an exporter on the node measures them.
  model::ReplicaSignals signals{};
  Duration busy_total{};  ///< time in which it computed since it became ready; never decreases
};

/// The functions that the cluster needs from the part that serves requests. The caller advances the serving side to the
/// time of the next cluster event before it advances the cluster. Therefore, every call is about the present.
class ServingHook {
 public:
  virtual ~ServingHook() = default;
  virtual void ready(const ReplicaStart& replica, Instant at) = 0;  ///< the replica joins the router
  virtual void drain(model::GangId gang, Instant at) = 0;           ///< it leaves the router and finishes its requests
  /// Returns true if the replica holds no requests. After `true`, the next call about the gang, if any, is a ready():
  /// the replica then serves in another role, or again after sleep.
  virtual bool drained(model::GangId gang) = 0;
  /// Ends the replica now; it loses its requests. The next call about the gang, if any, is a ready().
  virtual void killed(model::GangId gang, Instant at, Interruption why) = 0;
  /// @param scrape  true: the reading is a scrape and begins a new interval for the histograms of the engine
  virtual EngineReading sample(model::GangId gang, Instant at, bool scrape) = 0;
  virtual RequestCount gateway_waiting(model::ServiceId service, Instant at) = 0;
};

}  // namespace capstan::sim
