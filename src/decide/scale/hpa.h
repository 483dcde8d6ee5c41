#pragma once

#include <span>

#include "decide/scale/scale.h"

namespace capstan::decide::scale {

/// The arithmetic of HPA v2 in its parts, so that each can be held against Kubernetes' own cases. Ratios are doubles
/// because HPA's are: a ratio of exactly 1.1 is inside a tolerance of 10 % there, so it must be here.

/// One replica in the eyes of groupPods for a custom metric.
struct HpaPod {
  enum class Group : std::uint8_t { ready, unready, missing };
  Group group = Group::ready;
  std::int64_t milli = 0;  ///< thousandths; meaningful when ready
};

struct HpaProposal {
  bool valid = false;  ///< false: no pod that counts gave a reading, an error to HPA
  std::int64_t mean_milli = 0;
  double ratio = 0;
  double filled_ratio = 0;  ///< after fill-in; equals ratio where nothing was filled in
  bool within_tolerance = false;
  ReplicaCount replicas = 0;
};

/// GetMetricReplicas (calcPlainMetricReplicas): a Pods metric with an AverageValue.
HpaProposal propose_by_pods(std::span<const HpaPod> pods, std::int64_t target_milli, ReplicaCount current,
                            const HpaSettings& settings);

/// The highest (without behaviour) or windowed (with it) answer; appends this one to memory.answers.
ReplicaCount stabilize(Memory& memory, const HpaSettings& settings, ReplicaCount current, ReplicaCount wanted,
                       Instant now);

/// The furthest that the rate policies and bounds allow from `current` towards `wanted`.
ReplicaCount limit_rate(const Memory& memory, const HpaSettings& settings, ReplicaCount current, ReplicaCount wanted,
                        ReplicaCount min, ReplicaCount max, Instant now);

/// Remembers a change of replicas for later rate limits; without behaviour HPA remembers none.
void note_change(Memory& memory, const HpaSettings& settings, ReplicaCount current, ReplicaCount desired, Instant now);

}  // namespace capstan::decide::scale
