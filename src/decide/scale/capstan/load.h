#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "decide/scale/scale.h"

namespace capstan::decide::scale {

/// Load of all replicas of a service. A silent replica counts with its last reading. For decode replicas, the rates of
/// prompts and queues are those of the prefill replicas, whose output they will receive.
struct Load {
  /// Load of one replica over its last interval.
  struct ReplicaLoad {
    double running = 0;         ///< running sequences, mean of the interval
    double generated_rate = 0;  ///< generated tokens/s
    double ttft_p99_s = 0;      ///< 99th percentile of TTFT, seconds; 0: no first token, or not reported
    double ttft_late = -1;      ///< share of first tokens later than the SLO's `ttft`; below 0: unknown
    double queue_late = -1;     ///< share of ended requests that waited too long in the queue; below 0: unknown
    double tpot_late = -1;      ///< share of ended requests whose further tokens took too long; below 0: unknown
    std::uint32_t variant = 0;
  };
  /// Load of the replicas of one variant.
  struct VariantLoad {
    ReplicaCount serving = 0;
    ReplicaCount loading = 0;  ///< replicas with GPUs that do not serve yet
    ReplicaCount pending = 0;  ///< replicas without GPUs, or not created yet
    Duration without_gpus{};   ///< longest time for which an existing replica has had no GPUs
    double running = 0;        ///< running sequences
    double kv_used = 0;        ///< KV memory in use; 1 is the KV memory of one replica
    ReplicaCount starting() const { return loading + pending; }
  };
  ReplicaCount serving = 0;
  ReplicaCount starting = 0;
  /// Serving replicas and their prefill replicas. Each of them should give a reading.
  ReplicaCount expected_readings = 0;
  ReplicaCount silent = 0;          ///< ready replicas without a usable reading, prefill replicas included
  ReplicaCount silent_serving = 0;  ///< the same without prefill replicas
  ReplicaCount without_kv = 0;      ///< serving replicas that report everything needed except KV usage
  double running = 0;               ///< running sequences
  double waiting = 0;               ///< requests queued in engines
  double gateway_queued = 0;        ///< requests queued at the gateway
  bool gateway_read = false;        ///< true: the gateway's reading is usable
  /// True for a decode role: other replicas compute the prompts and are responsible for first tokens.
  bool is_decode = false;
  double prompt_rate = 0;             ///< computed prompt tokens/s
  double generated_rate = 0;          ///< generated tokens/s
  double prompt_tokens = 0;           ///< prompt tokens computed since the last decision, as far as counters were read
  double queue_rate = 0;              ///< growth of all queues including the gateway's, requests/s
  double kv_used = 0;                 ///< KV memory in use; 1 is the KV memory of one replica
  std::vector<ReplicaLoad> replicas;  ///< the service's serving or draining replicas whose counters are tracked
  std::vector<VariantLoad> variants;  ///< loads of the first variant and then of its alternatives

  /// Returns true if prompts are computed and no engine reports the time to the first token. It is then unknown how
  /// many first tokens are late.
  bool ttft_unknown() const;
  double in_flight() const { return running + waiting + gateway_queued; }
  bool idle() const { return in_flight() <= 0 && prompt_rate <= 0 && generated_rate <= 0; }
};

/// Returns the signals that `read_load` needs of a replica. KV usage and time to first token are optional.
const std::vector<model::SignalField>& load_signals();

/// Returns the service's load memory; creates it if there is none.
CapstanMemory& load_memory(Memory& memory, Instant now);

/// Reads every signal once and compares it with the last reading in the memory.
Load read_load(const WorkloadView& role, CapstanMemory& memory, Instant now);

/// Time from a decision to a serving replica.
struct Lead {
  Duration time{};
  bool is_known = false;  ///< true: a start was measured, or the cluster states how long one takes
  Duration typical{};     ///< like `time`, but ignores a start in progress that already takes longer
};

/// Returns the 75th percentile of the last measured start times, or the age of the oldest start in progress if that is
/// longer. Until a start has been measured, the cluster's estimate takes the place of the percentile. Without an
/// estimate, three minutes are assumed.
/// @param variant  index of the variant
/// @param leads    the last measured start times of the variant
Lead lead_time(const WorkloadView& role, std::uint32_t variant, std::span<const Duration> leads, Instant now);

/// Returns one view with the replicas of all variants of a mix, each marked with its variant's index.
WorkloadView merged_variants(const WorkloadView& role);

}  // namespace capstan::decide::scale
