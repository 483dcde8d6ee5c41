#pragma once

#include <optional>
#include <span>

#include "decide/scale/scale.h"

/// What HPA v2 makes of one metric, in its parts, so that each can be held against Kubernetes' own cases. Ratios are
/// doubles because HPA's are: a ratio of exactly 1.1 is inside a tolerance of 10 % there, so it must be here.
/// Quantities are thousandths, as in the API. Source: kubernetes pkg/controller/podautoscaler/replica_calculator.go.
namespace capstan::decide::scale {

/// One pod in the eyes of groupPods.
struct HpaPod {
  enum class Group : std::uint8_t {
    ready,
    unready,
    missing,      ///< counts, but gave no sample
    ignored,      ///< is being deleted, or failed
    superfluous,  ///< a sample whose pod does not exist
  };
  Group group = Group::ready;
  std::int64_t milli = 0;                     ///< its sample; meaningful when ready or superfluous
  std::optional<std::int64_t> request_milli;  ///< of the resource that is measured
};

/// What groupPods looks at.
struct HpaPodFacts {
  enum class Phase : std::uint8_t { pending, running, succeeded, failed };
  Phase phase = Phase::running;
  bool deleting = false;
  std::optional<bool> ready;  ///< nothing: no Ready condition
  Instant ready_since;        ///< the last transition of that condition
  std::optional<Instant> started_at;
  bool sampled = true;
  Instant sampled_at;
  Duration sample_window{};
};

/// --horizontal-pod-autoscaler-cpu-initialization-period and --horizontal-pod-autoscaler-initial-readiness-delay.
struct HpaReadiness {
  Duration cpu_initialization = std::chrono::minutes(5);
  Duration initial_readiness_delay = std::chrono::seconds(30);
};

/// @param cpu only the cpu resource looks at readiness: a custom metric of a pod that still loads counts in full
HpaPod::Group group_pod(const HpaPodFacts& pod, bool cpu, const HpaReadiness& readiness, Instant now);

struct HpaProposal {
  bool valid = false;                    ///< false: an error to HPA, such as no pod that counts gave a reading
  std::int64_t mean_milli = 0;           ///< of the samples; of the total for the metrics that are no pod's
  std::int64_t utilization_percent = 0;  ///< propose_by_utilization only
  double ratio = 0;
  double filled_ratio = 0;  ///< after fill-in; equals ratio where nothing was filled in
  bool within_tolerance = false;
  ReplicaCount replicas = 0;
};

/// GetMetricReplicas (calcPlainMetricReplicas): a Pods metric with an AverageValue.
HpaProposal propose_by_pods(std::span<const HpaPod> pods, std::int64_t target_milli, ReplicaCount current,
                            const HpaSettings& settings);

/// GetResourceReplicas: a Resource metric with averageUtilization. An error where any pod, one that is ignored
/// included, requests none of the resource.
HpaProposal propose_by_utilization(std::span<const HpaPod> pods, std::int64_t target_percent, ReplicaCount current,
                                   const HpaSettings& settings);

/// The items of an external metric, added up. What is too much to fit is the most that does; for an AverageValue a sum
/// that falls below 0 on the way is taken for that, too.
std::int64_t sum_for_value(std::span<const std::int64_t> items_milli);
std::int64_t sum_for_average_value(std::span<const std::int64_t> items_milli);

/// GetObjectMetricReplicas and GetExternalMetricReplicas: a Value. It multiplies the pods that are running and ready,
/// whatever `current` is: with none of them ready it proposes 0 (kubernetes/kubernetes#130130).
/// @param ready_pods nothing: no pod exists, an error unless current is 0
HpaProposal propose_by_value(std::int64_t usage_milli, std::int64_t target_milli, ReplicaCount current,
                             std::optional<ReplicaCount> ready_pods, const HpaSettings& settings);

/// The same two with an AverageValue: status.replicas is the divisor and the answer inside the tolerance, even where it
/// differs from spec.replicas (kubernetes/kubernetes#138505).
HpaProposal propose_by_average_value(std::int64_t usage_milli, std::int64_t target_milli, ReplicaCount status_replicas,
                                     const HpaSettings& settings);

}  // namespace capstan::decide::scale
