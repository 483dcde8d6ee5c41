#include "kube/workload_views.h"

#include <algorithm>

namespace capstan::kube {
namespace {

/// Returns the field managers of `spec.replicas` in the order of their last write. The result includes managers that
/// write through the scale subresource, such as kubectl scale and autoscalers.
std::vector<std::string> replicas_managers(Json object) {
  std::vector<std::pair<std::string, std::string>> managers;  // time and name; RFC 3339 times in UTC sort as text
  object["metadata"]["managedFields"].for_each([&](Json entry) {
    if (!entry["fieldsV1"]["f:spec"]["f:replicas"].exists()) return;
    managers.emplace_back(entry["time"].text(), entry["manager"].text());
  });
  std::ranges::stable_sort(managers, {}, &std::pair<std::string, std::string>::first);
  std::vector<std::string> names;
  for (auto& [time, name] : managers) names.push_back(std::move(name));
  return names;
}

Workload read_scalable(Json object) {
  const Json status = object["status"];
  Workload workload;
  workload.meta = read_meta(object);
  workload.kind = object["kind"].text();
  workload.replicas = object["spec"]["replicas"].integer(1);
  workload.current_replicas = status["replicas"].integer();
  workload.ready_replicas = status["readyReplicas"].integer();
  workload.updated_replicas = status["updatedReplicas"].integer();
  workload.observed_generation = status["observedGeneration"].integer();
  workload.first_ordinal = std::clamp<std::int64_t>(object["spec"]["ordinals"]["start"].integer(), 0, INT32_MAX);
  workload.conditions = read_conditions(status["conditions"]);
  workload.replicas_managers = replicas_managers(object);
  return workload;
}

}  // namespace

Workload read_workload(Json object) {
  const Json pod_template = object["spec"]["template"];
  Workload workload = read_scalable(object);
  workload.selector = read_selector(object["spec"]["selector"]);
  workload.pod_labels = read_string_map(pod_template["metadata"]["labels"]);
  workload.pod = read_pod_spec(pod_template["spec"]);
  return workload;
}

Workload read_leader_worker_set(Json object) {
  const Json group = object["spec"]["leaderWorkerTemplate"];
  Workload workload = read_scalable(object);
  workload.kind = "LeaderWorkerSet";
  workload.pods_per_replica = std::max<std::int64_t>(1, group["size"].integer(1));
  workload.pod_labels = read_string_map(group["workerTemplate"]["metadata"]["labels"]);
  workload.pod = read_pod_spec(group["workerTemplate"]["spec"]);
  if (group["leaderTemplate"].exists()) workload.leader = read_pod_spec(group["leaderTemplate"]["spec"]);
  return workload;
}

HorizontalPodAutoscaler read_horizontal_pod_autoscaler(Json object) {
  const Json spec = object["spec"];
  const Json status = object["status"];
  return {.meta = read_meta(object),
          .target = read_target_ref(spec["scaleTargetRef"]),
          .min_replicas = spec["minReplicas"].integer(1),
          .max_replicas = spec["maxReplicas"].integer(),
          .current_replicas = status["currentReplicas"].integer(),
          .desired_replicas = status["desiredReplicas"].integer(),
          .conditions = read_conditions(status["conditions"])};
}

ScaledObject read_scaled_object(Json object) {
  const Json spec = object["spec"];
  ScaledObject scaler;
  scaler.meta = read_meta(object);
  scaler.target = read_target_ref(spec["scaleTargetRef"]);
  if (scaler.target.kind.empty()) scaler.target.kind = "Deployment";  // KEDA's default
  if (scaler.target.api_version.empty()) scaler.target.api_version = "apps/v1";
  const StringMap& annotations = scaler.meta.annotations;
  const std::string* paused = annotations.find("autoscaling.keda.sh/paused");
  scaler.paused = (paused != nullptr && *paused != "false") || annotations.has("autoscaling.keda.sh/paused-replicas");
  scaler.min_replicas = spec["minReplicaCount"].integer(0);
  scaler.max_replicas = spec["maxReplicaCount"].integer(100);
  scaler.hpa = object["status"]["hpaName"].text();
  spec["triggers"].for_each([&](Json trigger) { scaler.triggers.push_back(trigger["type"].string()); });
  scaler.conditions = read_conditions(object["status"]["conditions"]);
  return scaler;
}

VariantAutoscaling read_variant_autoscaling(Json object) {
  return {.meta = read_meta(object), .target = read_target_ref(object["spec"]["scaleTargetRef"])};
}

PodDisruptionBudget read_pod_disruption_budget(Json object) {
  const Json spec = object["spec"];
  const Json status = object["status"];
  return {.meta = read_meta(object),
          .selector = read_selector(spec["selector"]),
          .min_available = spec["minAvailable"].scalar(),
          .max_unavailable = spec["maxUnavailable"].scalar(),
          .disruptions_allowed = status["disruptionsAllowed"].integer(),
          .current_healthy = status["currentHealthy"].integer(),
          .desired_healthy = status["desiredHealthy"].integer()};
}

}  // namespace capstan::kube
