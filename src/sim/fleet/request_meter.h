#pragma once

#include <cstdint>
#include <vector>

#include "base/quantity.h"
#include "base/time.h"
#include "sim/fleet/latency_histogram.h"

namespace capstan::sim {

/// Requests by where they are or ended. A *queued* one waits at the gateway, in an engine's queue or for its client's
/// next attempt; one *in flight* is in a batch or its KV is on the way to a decode replica.
struct RequestCounts {
  RequestCount arrived = 0;
  RequestCount completed = 0;
  RequestCount met = 0;        ///< completed, every bound of the SLO that is set held
  RequestCount rejected = 0;   ///< every attempt was refused: queues full, no replica, or too long for any
  RequestCount failed = 0;     ///< its last attempt that was taken ended with its replica
  RequestCount timed_out = 0;  ///< its last attempt that was taken ended because the client gave up
  RequestCount in_flight = 0;
  RequestCount queued = 0;

  RequestCount refused_attempts = 0;
  RequestCount retries = 0;      ///< attempts after a request's first
  RequestCount too_long = 0;     ///< attempts that would not fit the KV memory of any replica; not tried again
  RequestCount cut = 0;          ///< attempts that ended with their replica, running or waiting there
  RequestCount preempted = 0;    ///< times a request lost its KV inside an engine
  RequestCount handed_over = 0;  ///< from a prefill replica to a decode replica

  RequestCount unmet() const { return rejected + failed + timed_out; }
  bool conserved() const {
    return arrived == completed + in_flight + queued + rejected + failed + timed_out && met <= completed;
  }
  friend bool operator==(const RequestCounts&, const RequestCounts&) = default;
};

/// One minute of a run, for charts.
struct RequestMinute {
  RequestCount arrived = 0;
  RequestCount completed = 0;  ///< of those that arrived in this minute, whenever they completed
  RequestCount met = 0;        ///< of those that arrived in this minute, whenever they completed
  RequestCount waiting = 0;    ///< at its end: at the gateway and in engines' queues
  RequestCount waiting_max = 0;
  std::int64_t ttft_p99_us = 0;  ///< of the answers that began in this minute

  friend bool operator==(const RequestMinute&, const RequestMinute&) = default;
};

/// Tokens of answers, from the engines that generated them to where they went (invariant 8).
struct TokenFigures {
  Tokens generated = 0;  ///< by all engines, those that are gone included
  Tokens delivered = 0;  ///< of completed requests
  Tokens cut = 0;        ///< thrown away when a replica ended
  Tokens abandoned = 0;  ///< of attempts whose client gave up, or that no decode replica took
  Tokens held = 0;       ///< of requests under way

  bool conserved() const { return generated == delivered + cut + abandoned + held; }
  friend bool operator==(const TokenFigures&, const TokenFigures&) = default;
};

/// What a run says of its requests. Latencies are of completed requests, as their clients saw them.
struct RequestMeter {
  RequestCounts counts;
  Tokens input_tokens = 0;     ///< of completed requests
  Tokens output_tokens = 0;    ///< of completed requests
  Tokens cached_tokens = 0;    ///< of the prompts of completed requests: found in a prefix cache, not computed
  Tokens lost_tokens = 0;      ///< generated and thrown away when a replica ended
  Tokens orphaned_tokens = 0;  ///< first tokens of requests that ended between prefill and decode
  LatencyHistogram ttft;       ///< first sent to first token
  LatencyHistogram tpot;       ///< between tokens after the first, mean of a request; of those with two or more
  LatencyHistogram e2e;        ///< first sent to last token
  /// Picoseconds: the least GPU time in which the met requests could have been served. What a prefix cache held did not
  /// have to be computed, so it counts nothing.
  __int128 useful_gpu_ps = 0;
  std::vector<RequestMinute> minutes;

  GpuNanoseconds useful_gpu_ns() const { return useful_gpu_ps / 1000; }
};

}  // namespace capstan::sim
