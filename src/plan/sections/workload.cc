#include <fmt/format.h>

#include <algorithm>

#include "explain/words.h"
#include "plan/names.h"
#include "plan/scheduling.h"
#include "plan/sections/pod_spec.h"
#include "plan/sections/sections.h"
#include "plan/sections/weight_cache.h"

namespace capstan::plan {

namespace {

/// Returns the metadata of a workload with the labels and annotations that its scheduler reads.
Yaml workload_object(const PlanSpec& spec, const ServiceSpec& service, model::Role role) {
  Yaml object =
      kube_object(workload_api_version(service), workload_kind(service), workload_name(service, role), spec.namespace_);
  Yaml labels = pod_labels(service, role);
  const Yaml queue = queue_labels(spec, service.tenant);
  for (const auto& [key, value] : queue.entries()) labels.set(key, value);
  object["metadata"].set("labels", std::move(labels));
  const Yaml annotations = topology_annotations(spec, service);
  if (!annotations.empty() && pod_scheduler(spec) != GangScheduler::kueue) {
    object["metadata"].set("annotations", annotations);
  }
  return object;
}

Yaml deployment(const PlanSpec& spec, const ServiceSpec& service, const ServicePlan& fleet, const RoleFleet& role) {
  Yaml object = workload_object(spec, service, role.role);
  Yaml& body = object["spec"];
  body["selector"].set("matchLabels", pod_labels(service, role.role));
  Yaml& update = body["strategy"];
  update.set("type", "RollingUpdate");
  update["rollingUpdate"].set("maxSurge", 0, "a surge needs GPUs that may not be there");
  update["rollingUpdate"].set("maxUnavailable", 1);
  body.set("template", engine_pod(spec, service, fleet, role));
  return object;
}

Yaml leader_worker_set(const PlanSpec& spec, const ServiceSpec& service, const ServicePlan& fleet,
                       const RoleFleet& role) {
  Yaml object = workload_object(spec, service, role.role);
  Yaml& body = object["spec"];
  body.set("startupPolicy", "LeaderCreated");
  body["rolloutStrategy"].set("type", "RollingUpdate");
  body["rolloutStrategy"]["rollingUpdateConfiguration"].set("maxSurge", 0, "a surge needs GPUs that may not be there");
  body["rolloutStrategy"]["rollingUpdateConfiguration"].set("maxUnavailable", 1);
  Yaml& group = body["leaderWorkerTemplate"];
  group.set("size", role.pods);
  group.set("restartPolicy", "RecreateGroupOnPodRestart", "the pods of a replica serve together or not at all");
  group.set("leaderTemplate", engine_pod(spec, service, fleet, role));
  group.set("workerTemplate", worker_pod(spec, service, fleet, role));
  return object;
}

Yaml http_service(const PlanSpec& spec, const ServiceSpec& service, model::Role role) {
  Yaml object = kube_object("v1", "Service", workload_name(service, role), spec.namespace_);
  object["metadata"].set("labels", pod_labels(service, role));
  object["spec"].set("selector", pod_labels(service, role));
  Yaml ports = Yaml::list();
  ports.add(Yaml::map({{"name", kPort}, {"port", 80}, {"targetPort", kPort}}));
  object["spec"].set("ports", std::move(ports));
  return object;
}

Yaml disruption_budget(const PlanSpec& spec, const ServiceSpec& service, model::Role role) {
  Yaml object = kube_object("policy/v1", "PodDisruptionBudget", workload_name(service, role), spec.namespace_);
  object["spec"].set("maxUnavailable", 1);
  object["spec"].set("unhealthyPodEvictionPolicy", "AlwaysAllow", "a pod that does not serve blocks no drain");
  object["spec"]["selector"].set("matchLabels", pod_labels(service, role));
  return object;
}

void add_pod_statements(const ServiceSpec& service, const ServicePlan& fleet, const RoleFleet& role, Section& out) {
  const std::string prefix = workload_name(service, role.role) + " ";
  const PodTimes times = pod_times(service, fleet, role);
  const PodResourcesShare share = resources_share(role);
  const Device device = device_of(role);
  const auto add = [&](std::string_view name, std::string value, std::string why, Evidence evidence) {
    out.statements.push_back({prefix + std::string(name), std::move(value), std::move(why), evidence});
  };
  add("startup probe", explain::time_text(std::chrono::seconds(times.startup_s)), times.startup_why,
      fleet.start.empty() ? Evidence::assumed : Evidence::modelled);
  add("drain", explain::time_text(std::chrono::seconds(times.drain_s)), times.drain_why,
      times.is_answer_known ? Evidence::modelled : Evidence::assumed);
  add("grace period", explain::time_text(std::chrono::seconds(times.grace_s)),
      fmt::format("{} s until routers have dropped the pod + {} s of drain + 15 s", kPreStopS, times.drain_s),
      Evidence::modelled);
  add("pod", fmt::format("{} {}, {} cores, {} GiB", device.per_pod, device.resource, share.cpu, share.memory_gib),
      share.why + "; requests equal limits, so that the pod has its cores to itself",
      !share.is_machine_known         ? Evidence::assumed
      : role.machine.has_stated_shape ? Evidence::stated
                                      : Evidence::catalogue);
}

void add_workload(const PlanSpec& spec, const ServiceSpec& service, const ServicePlan& fleet, const RoleFleet& role,
                  Section& out) {
  const std::string name = workload_name(service, role.role);
  const bool is_gang = role.pods > 1;
  if (is_gang && !supports_gang(service.engine)) {
    out.statements.push_back({.name = name + " workload",
                              .value = "not written",
                              .why = "the plan has no command for this engine on several pods; use vLLM or SGLang, or "
                                     "fewer GPUs for a replica",
                              .evidence = Evidence::assumed});
    return;
  }
  if (role.role != model::Role::both && !supports_disaggregation(service.engine)) {
    out.statements.push_back({.name = name + " KV transfer",
                              .value = "not configured",
                              .why = "the plan configures it for vLLM and SGLang; for this engine use NVIDIA Dynamo",
                              .evidence = Evidence::assumed});
  }
  add_pod_statements(service, fleet, role, out);
  const std::string file = fmt::format("workload/{}.yaml", name);
  const EngineCommand engine = engine_command(service, role, 1);
  if (!engine.config.empty()) {
    Yaml config = kube_object("v1", "ConfigMap", config_name(service, role.role), spec.namespace_);
    config["data"].set(kConfigFile, engine.config);
    out.manifests.push_back({.file = file, .body = std::move(config)});
  }
  out.manifests.push_back(
      {.file = file,
       .body = is_gang ? leader_worker_set(spec, service, fleet, role) : deployment(spec, service, fleet, role)});
  out.manifests.push_back({.file = file, .body = http_service(spec, service, role.role)});
  out.manifests.push_back({.file = file, .body = disruption_budget(spec, service, role.role)});
}

}  // namespace

Section workload_section(const PlanFacts& facts) {
  Section out{.key = "workload", .title = "Workload"};
  bool has_roles = false, downloads = false;
  for (std::size_t i = 0; i < facts.services.size(); ++i) {
    const ServiceSpec& service = facts.spec.services[i];
    for (const RoleFleet& role : facts.services[i].roles) {
      add_workload(facts.spec, service, facts.services[i], role, out);
      has_roles |= role.role != model::Role::both;
    }
    downloads |= downloads_weights(service);
  }
  out.answer =
      "The number of replicas is the scaler's, so that the workloads state none. A replica gets requests when its "
      "model "
      "answers, and finishes the longest answer before it ends.";
  if (has_roles) {
    out.answer += " A router that sends each request to a prefill and a decode replica is not part of the plan.";
  }
  if (downloads) {
    out.commands.push_back(fmt::format(
        "kubectl -n {} create secret generic hugging-face --from-literal token=$HF_TOKEN  # for gated models",
        facts.spec.namespace_));
  }
  out.commands.emplace_back("kubectl apply -f workload");
  return out;
}

}  // namespace capstan::plan
