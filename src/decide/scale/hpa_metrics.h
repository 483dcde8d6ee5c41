#pragma once

#include <optional>
#include <span>

#include "decide/scale/scale.h"

/// HPA v2's calculation for one metric, as separate functions that can each be compared with Kubernetes' own test
/// cases. Ratios are doubles as in HPA, which counts a ratio of exactly 1.1 as within a tolerance of 10 %. Quantities
/// are in thousandths, as in the API. Source: kubernetes pkg/controller/podautoscaler/replica_calculator.go.
namespace capstan::decide::scale {

/// One pod as groupPods classifies it.
struct HpaPod {
  enum class Group : std::uint8_t {
    ready,
    unready,
    missing,      ///< a pod that counts but has no sample
    ignored,      ///< a pod that has failed or is being deleted
    superfluous,  ///< a sample without a pod
  };
  Group group = Group::ready;
  std::int64_t milli = 0;                     ///< sample of the pod; set for ready and superfluous
  std::optional<std::int64_t> request_milli;  ///< request of the measured resource
};

/// The properties of a pod that groupPods uses.
struct HpaPodFacts {
  enum class Phase : std::uint8_t { pending, running, succeeded, failed };
  Phase phase = Phase::running;
  bool deleting = false;
  std::optional<bool> ready;  ///< status of the Ready condition; empty: there is none
  Instant ready_since;        ///< last transition of the Ready condition
  std::optional<Instant> started_at;
  bool sampled = true;
  Instant sampled_at;
  Duration sample_window{};
};

/// The flags --horizontal-pod-autoscaler-cpu-initialization-period and
/// --horizontal-pod-autoscaler-initial-readiness-delay.
struct HpaReadiness {
  Duration cpu_initialization = std::chrono::minutes(5);
  Duration initial_readiness_delay = std::chrono::seconds(30);
};

/// Returns the group of a pod.
/// @param cpu  true: a CPU metric, for which readiness matters. For any other metric a starting pod counts in full.
HpaPod::Group group_pod(const HpaPodFacts& pod, bool cpu, const HpaReadiness& readiness, Instant now);

struct HpaProposal {
  bool valid = false;  ///< false: an error for HPA, for example if no counted pod has a reading
  /// Mean of the samples. For an object or external metric: the value, or its share per replica for an AverageValue.
  std::int64_t mean_milli = 0;
  std::int64_t utilization_percent = 0;  ///< utilization; set by propose_by_utilization only
  double ratio = 0;
  double filled_ratio = 0;  ///< ratio after values were assumed for missing and unready pods; else equal to `ratio`
  bool within_tolerance = false;
  ReplicaCount replicas = 0;
};

/// Implements GetMetricReplicas (calcPlainMetricReplicas): a Pods metric with an AverageValue.
HpaProposal propose_by_pods(std::span<const HpaPod> pods, std::int64_t target_milli, ReplicaCount current,
                            const HpaSettings& settings);

/// Implements GetResourceReplicas: a Resource metric with averageUtilization. The result is an error if any pod,
/// including an ignored one, has no request for the resource.
HpaProposal propose_by_utilization(std::span<const HpaPod> pods, std::int64_t target_percent, ReplicaCount current,
                                   const HpaSettings& settings);

/// Returns the sum of an external metric's items, saturating at the maximum. For an AverageValue a partial sum below 0
/// also gives the maximum, as in Kubernetes.
std::int64_t sum_for_value(std::span<const std::int64_t> items_milli);
std::int64_t sum_for_average_value(std::span<const std::int64_t> items_milli);

/// Implements GetObjectMetricReplicas and GetExternalMetricReplicas with a Value. The ratio is multiplied by the number
/// of running and ready pods and not by `current`, so that the proposal is 0 if no pod is ready
/// (kubernetes/kubernetes#130130). If `current` is 0, the proposal is the ratio itself, rounded up.
/// @param ready_pods  empty: no pod exists, which is an error unless `current` is 0 or the ratio is within
/// the tolerance
HpaProposal propose_by_value(std::int64_t usage_milli, std::int64_t target_milli, ReplicaCount current,
                             std::optional<ReplicaCount> ready_pods, const HpaSettings& settings);

/// Implements the same functions with an AverageValue. The divisor is status.replicas. Within the tolerance, the result
/// is status.replicas even if it differs from spec.replicas (kubernetes/kubernetes#138505).
HpaProposal propose_by_average_value(std::int64_t usage_milli, std::int64_t target_milli, ReplicaCount status_replicas,
                                     const HpaSettings& settings);

}  // namespace capstan::decide::scale
