#pragma once

#include <cstdint>
#include <vector>

#include "base/quantity.h"
#include "base/time.h"
#include "model/closed.h"
#include "model/ids.h"
#include "model/signal.h"
#include "model/topology.h"

namespace capstan::model {

/// One pod of a gang.
struct Pod {
  enum class Phase : std::uint8_t {
    pending,      ///< exists, not bound to a node
    starting,     ///< bound; pulls its image, loads weights, warms up
    ready,        ///< serves
    terminating,  ///< was asked to stop and still holds its GPUs
  };
  Phase phase = Phase::pending;
  GangId gang;
  MilliGpu gpus;
  NodeId node;  ///< none while pending
  Instant created_at;
  QueueId queue{};  ///< none: no queue limits it
  friend bool operator==(const Pod&, const Pod&) = default;
};

/// Scraped metrics of a replica's engine. They are aged and may be missing, so they differ from the true state.
struct ReplicaSignals {
  Signal waiting;                 ///< requests in the engine's queue (vllm:num_requests_waiting)
  Signal running;                 ///< requests in the batch (vllm:num_requests_running)
  Signal kv_usage_ppm;            ///< of KV blocks held, millionths (vllm:kv_cache_usage_perc)
  Signal duty_cycle_percent;      ///< DCGM_FI_DEV_GPU_UTIL: share of the sampling interval in which any kernel ran
  Signal memory_used_percent;     ///< DCGM_FI_DEV_FB_USED over total: preallocated by the engine, hence nearly constant
  Signal ttft_p99_us;             ///< from the engine's histogram over the last scrape interval
  Signal ttft_late_ppm;           ///< share of these first tokens later than the SLO's `ttft`, millionths
  Signal queue_late_ppm;          ///< share of ended requests that waited longer than the SLO's `queue_time`
  Signal tpot_late_ppm;           ///< share of ended requests that took longer per token than the SLO's `tpot`
  Signal prompt_tokens_total;     ///< counter
  Signal generated_tokens_total;  ///< counter
  friend bool operator==(const ReplicaSignals&, const ReplicaSignals&) = default;
};

/// Names one of the signals.
using SignalField = Signal ReplicaSignals::*;

/// One replica: pods that are useful only together.
struct Gang {
  enum class Phase : std::uint8_t {
    pending,   ///< not every pod is bound
    starting,  ///< all bound, not serving yet
    ready,     ///< in the router
    draining,  ///< out of the router, finishes its requests
    sleeping,  ///< not needed now, keeps its GPUs and engine; woken before another replica is created
  };
  Phase phase = Phase::pending;
  ServiceId service;
  VariantId variant;
  std::uint32_t ordinal = 0;  ///< replica number within (service, variant); a PlannedGang is matched by it
  std::vector<PodId> pods;    ///< in the order of their index
  std::int64_t min_pods =
      0;  ///< pods with a node that make it useful, above the number of `pods` if some are lost; 0: all
  GpuKindId gpu;
  MilliGpu gpus_per_pod;
  TopologyLevel together = TopologyLevel::node;
  Closed closed;  ///< excluded nodes of its pods while it is pending
  Instant created_at;
  bool resumed = false;  ///< changed its role or was woken, so its start time does not count as a cold start
  Instant expected_ready_at = Instant::never();  ///< valid while starting; predicted from earlier starts
  ReplicaSignals signals;
  friend bool operator==(const Gang&, const Gang&) = default;

  /// Returns true if the replica does not serve and will not: it drains or sleeps.
  bool leaves() const { return phase == Phase::draining || phase == Phase::sleeping; }
  std::int64_t needed_pods() const { return min_pods > 0 ? min_pods : static_cast<std::int64_t>(pods.size()); }
};

/// A replica that was decided and whose pods do not exist yet, because the workload controller creates them later. It
/// represents the gang from the decision on, so that capacity is counted once and nodes can be bought before the pods
/// exist.
struct PlannedGang {
  ServiceId service;
  VariantId variant;
  std::uint32_t ordinal = 0;
  Instant decided_at;
  friend bool operator==(const PlannedGang&, const PlannedGang&) = default;
};

}  // namespace capstan::model
