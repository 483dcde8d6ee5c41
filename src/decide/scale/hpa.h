#pragma once

#include <cstdint>

#include "decide/scale/scale.h"

/// HPA v2's windows and limits, as separate functions that can each be compared with Kubernetes' own test cases.
/// Source: kubernetes pkg/controller/podautoscaler/horizontal.go.
namespace capstan::decide::scale {

/// Returns the ceiling, clamped to an int32 as in Kubernetes.
ReplicaCount hpa_ceil(double replicas);

/// Records the current replicas as a recommendation on the first decision.
void record_first_replicas(Memory& memory, ReplicaCount current, Instant now);

/// Returns the stabilized count. Without `behavior` this is the highest recommendation in the window; with `behavior`,
/// `proposed` is limited by the recommendations in the windows of both directions. Stores `proposed` in
/// memory.recommendations as Kubernetes does: it overwrites the last entry that no window covers, or appends one.
ReplicaCount stabilize(Memory& memory, const HpaSettings& settings, ReplicaCount current, ReplicaCount proposed,
                       Instant now);

/// The limit that cut a desired count: Kubernetes' reasons of the condition ScalingLimited.
enum class HpaLimit : std::uint8_t { none, scale_up_limit, too_many_replicas, scale_down_limit, too_few_replicas };

struct HpaLimitedCount {
  ReplicaCount replicas = 0;
  HpaLimit limit = HpaLimit::none;
};

/// Returns the count nearest to `proposed` that the rate policies and bounds allow from `current`.
HpaLimitedCount limit_rate(const Memory& memory, const HpaSettings& settings, ReplicaCount current,
                           ReplicaCount proposed, ReplicaCount min, ReplicaCount max, Instant now);

/// Returns the limit that the rate policies of one direction set. Source: calculateScaleUpLimitWithScalingRules and
/// calculateScaleDownLimitWithBehaviors.
ReplicaCount scale_up_limit(const Memory& memory, const HpaRules& rules, ReplicaCount current, Instant now);
ReplicaCount scale_down_limit(const Memory& memory, const HpaRules& rules, ReplicaCount current, Instant now);

/// Returns the sum of the changes younger than `period`.
ReplicaCount changed_within(const std::vector<Memory::Change>& changes, Duration period, Instant now);
/// Returns true if the change is older than every policy period of its direction.
bool is_outdated(const Memory::Change& change, const HpaRules& rules, Instant now);

/// Stores a change of replicas for later rate limits; without `behavior` HPA stores none. The change replaces the last
/// outdated entry of its direction. Outdated entries of the other direction stay until they are overwritten, so that a
/// policy with a long period still sees them.
void record_change(Memory& memory, const HpaSettings& settings, ReplicaCount current, ReplicaCount desired,
                   Instant now);

}  // namespace capstan::decide::scale
