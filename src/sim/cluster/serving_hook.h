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
  model::VariantId variant;
  std::uint32_t ordinal = 0;
};

/// Who ended a replica that still served. A spot interruption is forced; all others follow from somebody's decision.
enum class Interruption : std::uint8_t {
  termination,  ///< its node was given back
  eviction,     ///< a pod of it was evicted
  grace_over,   ///< it was to drain, and held work longer than the grace
  spot,         ///< the provider took its node
};
inline constexpr std::size_t kInterruptions = 4;

/// What an engine says of itself at one moment.
struct EngineReading {
  RequestCount waiting = 0;
  RequestCount running = 0;
  std::int64_t kv_blocks_used = 0;
  std::int64_t kv_blocks_total = 0;
  Duration busy_total{};                       ///< time in which it computed, since it became ready; never decreases
  std::optional<Duration> ttft_p99;            ///< of first tokens since the last scrape; none if there were none
  std::optional<std::int64_t> ttft_late_ppm;   ///< of the same, later than the service's bound; none if it has none
  std::optional<std::int64_t> queue_late_ppm;  ///< of those that ended, waited in the queue for too long
  std::optional<std::int64_t> tpot_late_ppm;   ///< of the same, took too long for each token after the first
  Tokens prompt_tokens_total = 0;
  Tokens generated_tokens_total = 0;
};

/// What the cluster needs from whatever serves requests. The caller advances the serving side to the time of the next
/// cluster event before it advances the cluster, so that every call here is about its present.
class ServingHook {
 public:
  virtual ~ServingHook() = default;
  virtual void ready(const ReplicaStart& replica, Instant at) = 0;  ///< joins the router now
  virtual void drain(model::GangId gang, Instant at) = 0;           ///< leaves the router, finishes what it holds
  virtual bool drained(model::GangId gang) = 0;  ///< holds nothing more; after `true` the gang is not named again, but
                                                 ///< by a `ready`: in another role, or woken in the same
  virtual void killed(model::GangId gang, Instant at, Interruption why) = 0;  ///< ends now; what it held is lost; as
                                                                              ///< after `drained`
  /// `scrape` is true when this is the reading of a scrape, which begins a new interval for first tokens.
  virtual EngineReading sample(model::GangId gang, Instant at, bool scrape) = 0;
  virtual RequestCount gateway_waiting(model::ServiceId service, Instant at) = 0;
};

}  // namespace capstan::sim
