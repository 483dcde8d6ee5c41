#pragma once

#include "model/signal.h"

namespace capstan::model {

/// Scraped metrics of a replica's engine. They are aged and may be missing, so they differ from the true state.
struct ReplicaSignals {
  Signal waiting;             ///< requests in the engine's queue (vllm:num_requests_waiting)
  Signal running;             ///< requests in the batch (vllm:num_requests_running)
  Signal kv_usage_ppm;        ///< share of KV blocks in use, millionths (vllm:kv_cache_usage_perc)
  Signal duty_cycle_percent;  ///< share of time in which any kernel ran (DCGM_FI_DEV_GPU_UTIL)
  /// GPU memory in use (DCGM_FI_DEV_FB_USED). It is nearly constant, because engines preallocate.
  Signal memory_used_percent;
  Signal ttft_p99_us;             ///< time to first token in the last scrape interval, from the engine's histogram
  Signal ttft_late_ppm;           ///< share of first tokens in that interval that were later than the SLO's `ttft`
  Signal queue_late_ppm;          ///< share of ended requests that waited longer than the SLO's `queue_time`
  Signal tpot_late_ppm;           ///< share of ended requests that took longer per token than the SLO's `tpot`
  Signal prompt_tokens_total;     ///< counter of processed prompt tokens
  Signal generated_tokens_total;  ///< counter of generated tokens
  friend bool operator==(const ReplicaSignals&, const ReplicaSignals&) = default;
};

/// Names one of the signals.
using SignalField = Signal ReplicaSignals::*;

}  // namespace capstan::model
