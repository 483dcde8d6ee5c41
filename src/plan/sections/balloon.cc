#include "plan/sections/balloon.h"

#include "plan/objects/names.h"
#include "plan/objects/scheduling.h"
#include "plan/pods/pause_container.h"

namespace capstan::plan {

namespace {

constexpr std::string_view kBalloonPriority = "balloon";
constexpr std::int64_t kPriority = -10;

Yaml balloon_labels(std::string_view name) { return Yaml::map({{std::string(kServiceLabel), name}}); }

/// Returns a pod that asks for the GPUs of one pod of a replica and does nothing.
Yaml balloon_pod(const PlanSpec& spec, const RoleFleet& role) {
  Yaml container = pause_container();
  container["resources"] =
      equal_resources({{"cpu", "100m"},
                       {"memory", "64Mi"},
                       {gpu_resource(spec.cluster.cloud, role.engine.gpu), device_of(role).per_pod}});
  Yaml body;
  if (!scheduler_name(spec).empty()) body.set("schedulerName", scheduler_name(spec));
  body.set("priorityClassName", kBalloonPriority);
  body.set("terminationGracePeriodSeconds", 0, "a replica that needs the GPUs gets them at once");
  body.set("automountServiceAccountToken", false);
  body.set("nodeSelector", device_selector(spec.cluster.cloud, role));
  body.set("tolerations", gpu_node_tolerations(spec.cluster));
  body.set("containers", Yaml::list({std::move(container)}));
  return body;
}

}  // namespace

Yaml balloon_priority_class() {
  Yaml priority = kube_object("scheduling.k8s.io/v1", "PriorityClass", kBalloonPriority);
  priority.set("value", kPriority, "below the default of 0, so that every other pod may take its place");
  priority.set("preemptionPolicy", "Never");
  priority.set("description", "Pods that hold GPUs for the next replica");
  return priority;
}

Yaml balloon_deployment(const PlanSpec& spec, const ServiceSpec& service, const RoleFleet& role) {
  const std::string name = helper_name(spec, workload_name(service, role.role), "balloon");
  const bool is_split_by_kai = role.pods > 1 && pod_scheduler(spec) == GangScheduler::kai;
  Yaml labels = balloon_labels(name);
  const Yaml queue = queue_labels(spec, service.tenant);
  for (const auto& [key, value] : queue.entries()) labels.set(key, value);
  Yaml balloons = kube_object("apps/v1", "Deployment", name, spec.namespace_);
  balloons["metadata"].set("labels", labels);
  Yaml& body = balloons["spec"];
  body.set("replicas", role.pods,
           is_split_by_kai
               ? "capstan:ignore kai-deployment-not-gang the pods hold the room of one replica, each its part"
               : "the room of one replica");
  body["selector"].set("matchLabels", balloon_labels(name));
  body["template"]["metadata"].set("labels", std::move(labels));
  body["template"].set("spec", balloon_pod(spec, role));
  return balloons;
}

std::vector<Yaml> capacity_buffer_objects(const PlanSpec& spec, const ServiceSpec& service, const RoleFleet& role) {
  const std::string name = helper_name(spec, workload_name(service, role.role), "buffer");
  Yaml pods = kube_object("v1", "PodTemplate", name, spec.namespace_);
  pods["template"]["metadata"].set("labels", balloon_labels(name));
  const Yaml body = balloon_pod(spec, role);
  Yaml virtual_pod;  // a CapacityBuffer creates no pods, so its template needs no priority and no scheduler
  for (const auto& [key, value] : body.entries()) {
    const bool is_of_real_pods =
        key == "priorityClassName" || key == "terminationGracePeriodSeconds" || key == "schedulerName";
    if (!is_of_real_pods) virtual_pod.set(key, value);
  }
  pods["template"].set("spec", std::move(virtual_pod));
  Yaml buffer = kube_object("autoscaling.x-k8s.io/v1beta1", "CapacityBuffer", name, spec.namespace_);
  buffer["spec"]["podTemplateRef"].set("name", name);
  buffer["spec"].set("replicas", role.pods, "the room of one replica");
  return {std::move(pods), std::move(buffer)};
}

}  // namespace capstan::plan
