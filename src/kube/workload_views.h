#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kube/common_views.h"
#include "kube/pod_view.h"

namespace capstan::kube {

/// A workload that has replicas: Deployment, StatefulSet, LeaderWorkerSet.
struct Workload {
  Meta meta;
  std::string kind;
  std::int64_t replicas = 1;          ///< wanted
  std::int64_t current_replicas = 0;  ///< that exist
  std::int64_t ready_replicas = 0;
  std::int64_t updated_replicas = 0;
  std::int64_t observed_generation = 0;
  std::int64_t first_ordinal = 0;     ///< a StatefulSet's, where its numbers do not begin at 0
  Selector selector;                  ///< of its pods; a LeaderWorkerSet has none in its spec
  StringMap pod_labels;               ///< of the template (a LeaderWorkerSet's workers)
  PodSpec pod;                        ///< of the template (a LeaderWorkerSet's workers)
  std::optional<PodSpec> leader;      ///< a LeaderWorkerSet whose leader differs
  std::int64_t pods_per_replica = 1;  ///< a LeaderWorkerSet's size
  /// Who sets `spec.replicas`, from the managed fields: managers, most recent last.
  std::vector<std::string> replicas_managers;
  std::vector<Condition> conditions;
  friend bool operator==(const Workload&, const Workload&) = default;
};

Workload read_workload(Json object);
Workload read_leader_worker_set(Json object);

struct HorizontalPodAutoscaler {
  Meta meta;
  TargetRef target;
  std::int64_t min_replicas = 1;
  std::int64_t max_replicas = 0;
  std::int64_t current_replicas = 0;
  std::int64_t desired_replicas = 0;
  std::vector<Condition> conditions;
  friend bool operator==(const HorizontalPodAutoscaler&, const HorizontalPodAutoscaler&) = default;
};

HorizontalPodAutoscaler read_horizontal_pod_autoscaler(Json object);

/// KEDA's; of its triggers only their types.
struct ScaledObject {
  Meta meta;
  TargetRef target;
  bool paused = false;  ///< by annotation, or held at a fixed number of replicas
  std::int64_t min_replicas = 0;
  std::int64_t max_replicas = 100;
  std::string hpa;  ///< the autoscaler that it made
  std::vector<std::string> triggers;
  std::vector<Condition> conditions;
  friend bool operator==(const ScaledObject&, const ScaledObject&) = default;
};

ScaledObject read_scaled_object(Json object);

/// llm-d's Workload-Variant-Autoscaler; of its target only whose it is.
struct VariantAutoscaling {
  Meta meta;
  TargetRef target;
  friend bool operator==(const VariantAutoscaling&, const VariantAutoscaling&) = default;
};

VariantAutoscaling read_variant_autoscaling(Json object);

struct PodDisruptionBudget {
  Meta meta;
  Selector selector;
  std::string min_available;    ///< "3", "50%"; empty: not given
  std::string max_unavailable;  ///< the same
  std::int64_t disruptions_allowed = 0;
  std::int64_t current_healthy = 0;
  std::int64_t desired_healthy = 0;
  friend bool operator==(const PodDisruptionBudget&, const PodDisruptionBudget&) = default;
};

PodDisruptionBudget read_pod_disruption_budget(Json object);

}  // namespace capstan::kube
