#include "plan/pods/pod_spec.h"

#include <fmt/format.h>

#include <utility>

#include "plan/objects/names.h"
#include "plan/objects/scheduling.h"
#include "plan/pods/pause_container.h"
#include "plan/pods/weight_cache.h"

namespace capstan::plan {

namespace {

Yaml list_of(std::vector<Yaml> elements) {
  Yaml list = Yaml::list();
  for (Yaml& element : elements) list.add(std::move(element));
  return list;
}

void add_probes(const EngineCommand& engine, const PodTimes& times, Yaml& container) {
  constexpr std::int64_t kPeriodS = 10;
  const Yaml health = Yaml::map({{"path", engine.health_path}, {"port", kPort}});
  Yaml& startup = container["startupProbe"];
  startup.set("httpGet", health);
  startup.set("periodSeconds", kPeriodS);
  startup.set("failureThreshold", times.startup_s / kPeriodS, times.startup_why);
  Yaml& ready = container["readinessProbe"];
  ready.set("httpGet", health);
  ready.set("periodSeconds", 5);
  ready.set("timeoutSeconds", 5);
}

/// Sets the sleep between the removal of the pod from its Service and SIGTERM.
void set_pre_stop(Yaml& container, std::int64_t seconds, std::string_view why) {
  container["lifecycle"]["preStop"]["sleep"].set("seconds", seconds, why);
}

/// Returns the engine's container without probes and without a preStop hook, as all pods of a replica have it.
Yaml engine_container(const PlanSpec& spec, const ServiceSpec& service, const RoleFleet& role,
                      const EngineCommand& engine) {
  Yaml container = Yaml::map({{"name", kContainer}, {"image", service.image}});
  if (!engine.command.empty()) container.set("command", Yaml::list(engine.command));
  container.set("args", Yaml::list(engine.args));
  if (!engine.environment.empty()) container.set("env", list_of(engine.environment));
  if (!engine.ports.empty()) container.set("ports", list_of(engine.ports));
  const PodResourceNeeds share = resource_needs(role);
  container["resources"] =
      equal_resources({{"cpu", fmt::format("{}", share.cpu)},
                       {"memory", fmt::format("{}Gi", share.memory_gib)},
                       {gpu_resource(spec.cluster.cloud, role.engine.gpu), device_of(role).per_pod}});
  Yaml mounts = Yaml::list();
  mounts.add(Yaml::map({{"name", "models"}, {"mountPath", kModelsMount}, {"readOnly", true}}));
  if (share.shared_memory_gib > 0) mounts.add(Yaml::map({{"name", "shared-memory"}, {"mountPath", "/dev/shm"}}));
  if (!engine.config.empty()) mounts.add(Yaml::map({{"name", "config"}, {"mountPath", kConfigMount}}));
  container.set("volumeMounts", std::move(mounts));
  return container;
}

Yaml pod_volumes(const PlanSpec& spec, const ServiceSpec& service, const RoleFleet& role, const EngineCommand& engine) {
  Yaml volumes = list_of(weight_volumes(spec, service));
  if (const std::int64_t gib = resource_needs(role).shared_memory_gib; gib > 0) {
    Yaml& shared = volumes.add(Yaml::map({{"name", "shared-memory"}}));
    shared["emptyDir"].set("medium", "Memory", "the processes of the GPUs exchange data here; the default is 64 MiB");
    shared["emptyDir"].set("sizeLimit", fmt::format("{}Gi", gib));
  }
  if (!engine.config.empty()) {
    volumes.add(Yaml::map({{"name", "config"}}))["configMap"].set("name", config_name(service, role.role));
  }
  return volumes;
}

/// Spreads replicas over zones and nodes as far as there is room.
Yaml spread_constraints(const Yaml& labels, bool has_zones, bool over_nodes) {
  Yaml list = Yaml::list();
  const auto add = [&](std::string_view key) {
    Yaml& constraint =
        list.add(Yaml::map({{"maxSkew", 1}, {"topologyKey", key}, {"whenUnsatisfiable", "ScheduleAnyway"}}));
    constraint["labelSelector"].set("matchLabels", labels);
  };
  if (has_zones) add(kZoneLabel);
  if (over_nodes) add(kHostLabel);
  return list;
}

/// Returns the pod without its spread constraints.
Yaml pod_of_replica(const PlanSpec& spec, const ServiceSpec& service, const RoleFleet& role, const PodTimes& times,
                    const EngineCommand& engine, Yaml container, const Yaml& labels) {
  Yaml pod;
  Yaml all_labels = labels;
  const Yaml queue = queue_labels(spec, service.tenant);
  for (const auto& [key, value] : queue.entries()) all_labels.set(key, value);
  pod["metadata"].set("labels", std::move(all_labels));
  if (pod_scheduler(spec) == GangScheduler::kueue && role.pods > 1) {
    pod["metadata"].set("annotations", topology_annotations(spec, service, role));
  }
  Yaml& body = pod["spec"];
  if (!scheduler_name(spec).empty()) body.set("schedulerName", scheduler_name(spec));
  body.set("priorityClassName", service.tenant);
  body.set("terminationGracePeriodSeconds", times.grace_s,
           fmt::format("preStop {} s + drain {} s + 15 s", kPreStopS, times.drain_s));
  body.set("automountServiceAccountToken", false);
  if (role.gpu_shares > 1 && spec.cluster.cloud == Cloud::gcp)
    body.set("hostIPC", true, "the processes that share a GPU reach the MPS daemon of the node");
  body.set("nodeSelector", device_selector(spec.cluster.cloud, role));
  body.set("tolerations", gpu_node_tolerations(spec.cluster));
  if (downloads_weights(service)) body.set("initContainers", Yaml::list({weight_init_container(service)}));
  body.set("containers", Yaml::list({std::move(container)}));
  body.set("volumes", pod_volumes(spec, service, role, engine));
  return pod;
}

}  // namespace

std::string config_name(const ServiceSpec& service, model::Role role) {
  return workload_name(service, role) + "-config";
}

Yaml engine_pod(const PlanSpec& spec, const ServiceSpec& service, const ServicePlan& fleet, const RoleFleet& role) {
  const PodTimes times = pod_times(service, fleet, role);
  const EngineCommand engine = engine_command(service, role, times.drain_s);
  Yaml container = engine_container(spec, service, role, engine);
  add_probes(engine, times, container);
  set_pre_stop(
      container, times.pre_stop_s,
      times.pre_stop_s == kPreStopS
          ? "until routers have dropped the pod"
          : "until routers have dropped the pod and its answers have ended; the engine does not wait for them");
  const Yaml labels = pod_labels(service, role.role);
  Yaml pod = pod_of_replica(spec, service, role, times, engine, std::move(container), labels);
  Yaml spread = spread_constraints(labels, spec.cluster.zones.size() > 1 && role.pods < 2, role.pods < 2);
  if (!spread.empty()) pod["spec"].set("topologySpreadConstraints", std::move(spread));
  return pod;
}

Yaml worker_pod(const PlanSpec& spec, const ServiceSpec& service, const ServicePlan& fleet, const RoleFleet& role) {
  const PodTimes times = pod_times(service, fleet, role);
  const EngineCommand engine = worker_command(service, role);
  // The service label of a worker has another value, so that the Service and the PodDisruptionBudget of the leaders do
  // not select the worker.
  const Yaml labels =
      Yaml::map({{std::string(kServiceLabel), helper_name(spec, workload_name(service, role.role), "worker")}});
  Yaml container = engine_container(spec, service, role, engine);
  set_pre_stop(container, times.worker_pre_stop_s, "its leader finishes the running answers on it");
  return pod_of_replica(spec, service, role, times, engine, std::move(container), labels);
}

}  // namespace capstan::plan
