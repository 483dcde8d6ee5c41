#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "decide/scale/scale.h"

namespace capstan::decide::scale {

/// What the replicas of a service do, summed up; of a silent one what it last did. Replicas that decode are asked for
/// by the prompts that others compute: the rates of prompts and of queues are those of the replicas that feed them.
struct Load {
  /// One replica over its last interval.
  struct Each {
    double running = 0;         ///< mean
    double generated_rate = 0;  ///< tokens/s
    double ttft_p99_s = 0;      ///< 0: no first token in the interval
    double ttft_late = -1;      ///< share of its first tokens that came later than the SLO's `ttft`; below 0: unknown
    double queue_late = -1;     ///< share of those that ended which waited in the queue for too long; below 0: unknown
    double tpot_late = -1;      ///< share of the same whose further tokens took too long; below 0: unknown
    std::uint32_t variant = 0;
  };
  /// The replicas of one variant.
  struct OfVariant {
    ReplicaCount serving = 0;
    ReplicaCount loading = 0;  ///< have their GPUs and do not serve yet
    ReplicaCount pending = 0;  ///< have none, or are not there yet
    Duration waits{};          ///< how long the oldest of those that are there has had none
    double running = 0;        ///< sequences
    double kv_used = 0;        ///< in whole replicas' KV memories
    ReplicaCount starting() const { return loading + pending; }
  };
  ReplicaCount serving = 0;
  ReplicaCount starting = 0;
  ReplicaCount asked = 0;           ///< that should give a reading: those that serve, and those that feed them
  ReplicaCount silent = 0;          ///< of them, without a usable one
  ReplicaCount without_kv = 0;      ///< serve and say all that is needed, but not how full their KV memory is
  double running = 0;               ///< sequences
  double waiting = 0;               ///< requests in engines
  double held = 0;                  ///< requests at the gateway
  bool gateway_read = false;        ///< its reading is usable
  bool decodes = false;             ///< others compute the prompts, and answer for first tokens
  double prompt_rate = 0;           ///< tokens/s
  double generated_rate = 0;        ///< tokens/s
  double prompt_tokens = 0;         ///< computed since the last decision, as far as counters were read
  double queue_rate = 0;            ///< requests/s by which all queues grow, the gateway's included
  double kv_used = 0;               ///< in whole replicas' KV memories
  std::vector<Each> each;           ///< those that serve or drain and were read twice
  std::vector<OfVariant> variants;  ///< by position: the first, and those beside it

  /// Prompts are computed, and no engine tells how long a first token takes: not the same as none being late.
  bool ttft_unknown() const;
  double in_flight() const { return running + waiting + held; }
  bool idle() const { return in_flight() <= 0 && prompt_rate <= 0 && generated_rate <= 0; }
};

/// What has to be read of a replica for all of that. KV memory and the time to the first token add to it.
const std::vector<model::SignalField>& load_signals();

/// What is kept of a service's loads; begun where nothing is yet.
CapstanMemory& load_memory(Memory& memory, Instant now);

/// Reads every signal once, against what the memory holds of the last reading.
Load read_load(const RoleView& role, CapstanMemory& memory, Instant now);

/// The time from a decision to a replica that serves.
struct Lead {
  Duration time{};
  bool known = false;  ///< a start was seen, or the cluster expects one to take so long
  Duration usual{};    ///< what it is without the start under way that takes longer
};

/// A high quantile of the last starts, no less than the oldest start under way has taken already; before the first one,
/// what the cluster expects of a start, else a guess.
/// @param variant  whose starts, by position
Lead lead_time(const RoleView& role, std::uint32_t variant, std::span<const Duration> leads, Instant now);

/// The replicas of all variants of a mix in one view, each marked with its variant's position.
RoleView together(const RoleView& role);

}  // namespace capstan::decide::scale
