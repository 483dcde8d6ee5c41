#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/quantity.h"
#include "base/time.h"
#include "model/ids.h"

namespace capstan::sim {

/// A replica that begins to serve.
struct ReplicaStart {
  model::GangId gang;
  model::ServiceId service;
  std::uint32_t ordinal = 0;
};

/// The causes for which a replica that holds requests ends. A spot interruption is forced. The others follow from a
/// decision.
enum class Interruption : std::uint8_t {
  termination,  ///< its node was given back
  eviction,     ///< a pod of it was evicted
  grace_over,   ///< it drained for longer than the grace period
  spot,         ///< the provider took its node
};
inline constexpr std::size_t kInterruptions = 4;

/// The values that an engine reports at one moment.
struct EngineReading {
  RequestCount waiting = 0;
  RequestCount running = 0;
  std::int64_t kv_blocks_used = 0;
  std::int64_t kv_blocks_total = 0;
  Duration busy_total{};                       ///< time in which it computed since it became ready; never decreases
  std::optional<Duration> ttft_p99;            ///< over the first tokens since the last scrape; none without one
  std::optional<std::int64_t> ttft_late_ppm;   ///< share of these later than the service's bound; none without one
  std::optional<std::int64_t> queue_late_ppm;  ///< share of ended requests that waited too long in the queue
  std::optional<std::int64_t> tpot_late_ppm;   ///< share of ended requests with too long a time per later token
  Tokens prompt_tokens_total = 0;
  Tokens generated_tokens_total = 0;
};

/// The functions that the cluster needs from the part that serves requests. The caller advances the serving side to the
/// time of the next cluster event before it advances the cluster. Therefore, every call is about the present.
class ServingHook {
 public:
  virtual ~ServingHook() = default;
  virtual void ready(const ReplicaStart& replica, Instant at) = 0;  ///< the replica joins the router
  virtual void drain(model::GangId gang, Instant at) = 0;           ///< it leaves the router and finishes its requests
  /// Returns true if the replica holds no requests. After `true`, the next call about the gang is a ready(): it serves
  /// in another role, or again after sleep.
  virtual bool drained(model::GangId gang) = 0;
  /// The replica ends now and loses its requests. The next call about the gang, if any, is a ready().
  virtual void killed(model::GangId gang, Instant at, Interruption why) = 0;
  /// @param scrape  this is the reading of a scrape, which begins a new interval for first tokens
  virtual EngineReading sample(model::GangId gang, Instant at, bool scrape) = 0;
  virtual RequestCount gateway_waiting(model::ServiceId service, Instant at) = 0;
};

}  // namespace capstan::sim
