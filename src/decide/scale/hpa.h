#pragma once

#include <cstdint>

#include "decide/scale/scale.h"

/// What HPA v2 does with a proposal: windows and limits, in parts that can each be held against Kubernetes' own cases.
/// Source: kubernetes pkg/controller/podautoscaler/horizontal.go.
namespace capstan::decide::scale {

/// ceil as an int32 of Kubernetes; what does not fit is the nearest that does.
ReplicaCount hpa_ceil(double replicas);

/// The replicas that there are when a workload is first seen count as an answer.
void note_first_sight(Memory& memory, ReplicaCount current, Instant now);

/// The highest (without behaviour) or windowed (with it) answer; keeps this one in memory.answers, where Kubernetes
/// would: in the place of the last one that no window sees any more, else at the end.
ReplicaCount stabilize(Memory& memory, const HpaSettings& settings, ReplicaCount current, ReplicaCount wanted,
                       Instant now);

/// Why a desired count was cut; Kubernetes' own reasons of the condition ScalingLimited.
enum class HpaLimit : std::uint8_t { none, scale_up_limit, too_many_replicas, scale_down_limit, too_few_replicas };

struct HpaLimited {
  ReplicaCount replicas = 0;
  HpaLimit by = HpaLimit::none;
};

/// The furthest that the rate policies and bounds allow from `current` towards `wanted`.
HpaLimited limit_rate(const Memory& memory, const HpaSettings& settings, ReplicaCount current, ReplicaCount wanted,
                      ReplicaCount min, ReplicaCount max, Instant now);

/// What the rate policies of one direction allow by themselves: calculateScaleUpLimitWithScalingRules and its opposite.
ReplicaCount scale_up_limit(const Memory& memory, const HpaRules& rules, ReplicaCount current, Instant now);
ReplicaCount scale_down_limit(const Memory& memory, const HpaRules& rules, ReplicaCount current, Instant now);

/// The sum of the changes that are younger than `period`.
ReplicaCount changed_within(const std::vector<Memory::Change>& changes, Duration period, Instant now);
/// Outdated: older than every policy of the direction that it belongs to.
bool is_outdated(const Memory::Change& change, const HpaRules& rules, Instant now);

/// Remembers a change of replicas for later rate limits; without behaviour HPA remembers none. The new one takes the
/// place of the last outdated one. Those of the other direction are left as they are, so a policy with a long period
/// sees what the other direction, with a short one, happens not to have written over yet.
void note_change(Memory& memory, const HpaSettings& settings, ReplicaCount current, ReplicaCount desired, Instant now);

}  // namespace capstan::decide::scale
