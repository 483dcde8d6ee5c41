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
    pending,      ///< exists, bound to no node
    starting,     ///< bound: pulling, loading, warming up
    ready,        ///< serves
    terminating,  ///< told to stop, still holds its GPUs
  };
  Phase phase = Phase::pending;
  GangId gang;
  MilliGpu gpus;
  NodeId node;  ///< none while pending
  Instant created_at;
  QueueId queue{};  ///< none: nothing but room limits it
  friend bool operator==(const Pod&, const Pod&) = default;
};

/// What the engine of a replica says of itself, as scraped: aged, possibly missing. Never the truth.
struct ReplicaSignals {
  Signal waiting;                 ///< requests in the engine's queue (vllm:num_requests_waiting)
  Signal running;                 ///< requests in the batch (vllm:num_requests_running)
  Signal kv_usage_ppm;            ///< of KV blocks held, millionths (vllm:kv_cache_usage_perc)
  Signal duty_cycle_percent;      ///< DCGM_FI_DEV_GPU_UTIL: share of the sampling interval in which any kernel ran
  Signal memory_used_percent;     ///< DCGM_FI_DEV_FB_USED over total: preallocated by the engine, hence nearly constant
  Signal ttft_p99_us;             ///< from the engine's histogram over the last scrape interval
  Signal ttft_late_ppm;           ///< of the same first tokens, later than the SLO's `ttft`; millionths
  Signal queue_late_ppm;          ///< of what ended, waited in the queue for longer than the SLO's `queue_time`
  Signal tpot_late_ppm;           ///< of the same, took longer for each further token than the SLO's `tpot`
  Signal prompt_tokens_total;     ///< counter
  Signal generated_tokens_total;  ///< counter
  friend bool operator==(const ReplicaSignals&, const ReplicaSignals&) = default;
};

/// Where one of them stands.
using SignalField = Signal ReplicaSignals::*;

/// One replica: pods that are useful all together or not at all.
struct Gang {
  enum class Phase : std::uint8_t {
    pending,   ///< not every pod is bound
    starting,  ///< all bound, not serving yet
    ready,     ///< in the router
    draining,  ///< out of the router, finishing what it holds
    sleeping,  ///< given up, with its GPUs and its engine: woken before another one is made
  };
  Phase phase = Phase::pending;
  ServiceId service;
  VariantId variant;
  std::uint32_t ordinal = 0;  ///< replica number within (service, variant): what a PlannedGang is matched by
  std::vector<PodId> pods;    ///< in the order of their index
  std::int64_t min_pods = 0;  ///< with a node, that make it useful: more than `pods` where some are lost; 0: all
  GpuKindId gpu;
  MilliGpu gpus_per_pod;
  TopologyLevel together = TopologyLevel::node;
  Closed closed;  ///< to its pods, as long as it is pending
  Instant created_at;
  bool resumed = false;  ///< out of another role or out of sleep: it says nothing of what a start takes
  Instant expected_ready_at = Instant::never();  ///< once starting; predicted from earlier starts
  ReplicaSignals signals;
  friend bool operator==(const Gang&, const Gang&) = default;

  /// Out of the router, or on its way out: none of those that serve or are to.
  bool leaves() const { return phase == Phase::draining || phase == Phase::sleeping; }
  std::int64_t needed_pods() const { return min_pods > 0 ? min_pods : static_cast<std::int64_t>(pods.size()); }
};

/// A replica that is decided but whose pods do not exist yet: somebody else creates them, later. Stands for the gang
/// from the decision on, so that capacity is counted once and nodes can be bought before pods appear.
struct PlannedGang {
  ServiceId service;
  VariantId variant;
  std::uint32_t ordinal = 0;
  Instant decided_at;
  friend bool operator==(const PlannedGang&, const PlannedGang&) = default;
};

}  // namespace capstan::model
