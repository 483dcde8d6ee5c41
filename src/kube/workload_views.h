#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kube/common_views.h"
#include "kube/pod_view.h"

namespace capstan::kube {

/// A workload with replicas: Deployment, StatefulSet or LeaderWorkerSet.
struct Workload {
  Meta meta;
  std::string kind;
  std::int64_t replicas = 1;          ///< desired replicas
  std::int64_t current_replicas = 0;  ///< existing replicas
  std::int64_t ready_replicas = 0;
  std::int64_t updated_replicas = 0;
  std::int64_t observed_generation = 0;
  std::int64_t first_ordinal = 0;     ///< number of the first pod of a StatefulSet
  Selector selector;                  ///< selector of its pods; absent for a LeaderWorkerSet
  StringMap pod_labels;               ///< labels of the pod template (LeaderWorkerSet: of the workers)
  PodSpec pod;                        ///< spec of the pod template (LeaderWorkerSet: of the workers)
  std::optional<PodSpec> leader;      ///< leader template of a LeaderWorkerSet, if it has one
  std::int64_t pods_per_replica = 1;  ///< size of a LeaderWorkerSet
  /// Field managers of `spec.replicas`; the most recent writer is last.
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

/// A ScaledObject of KEDA, with only the types of its triggers.
struct ScaledObject {
  Meta meta;
  TargetRef target;
  bool paused = false;  ///< paused by an annotation, with or without a fixed number of replicas
  std::int64_t min_replicas = 0;
  std::int64_t max_replicas = 100;
  std::string hpa;  ///< name of the HorizontalPodAutoscaler that KEDA created
  std::vector<std::string> triggers;
  std::vector<Condition> conditions;
  friend bool operator==(const ScaledObject&, const ScaledObject&) = default;
};

ScaledObject read_scaled_object(Json object);

/// A VariantAutoscaling of llm-d's Workload Variant Autoscaler, with only its target.
struct VariantAutoscaling {
  Meta meta;
  TargetRef target;
  friend bool operator==(const VariantAutoscaling&, const VariantAutoscaling&) = default;
};

VariantAutoscaling read_variant_autoscaling(Json object);

struct PodDisruptionBudget {
  Meta meta;
  Selector selector;
  std::string min_available;    ///< "3" or "50%"; empty: not set
  std::string max_unavailable;  ///< "3" or "50%"; empty: not set
  std::int64_t disruptions_allowed = 0;
  std::int64_t current_healthy = 0;
  std::int64_t desired_healthy = 0;
  friend bool operator==(const PodDisruptionBudget&, const PodDisruptionBudget&) = default;
};

PodDisruptionBudget read_pod_disruption_budget(Json object);

}  // namespace capstan::kube
