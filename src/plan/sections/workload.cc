#include <fmt/format.h>

#include <algorithm>

#include "base/number_text.h"
#include "experiment/text/words.h"
#include "explain/words.h"
#include "plan/fleet/engine_limits.h"
#include "plan/objects/names.h"
#include "plan/objects/scheduling.h"
#include "plan/pods/pod_spec.h"
#include "plan/pods/weight_cache.h"
#include "plan/pools/pool_sharing.h"
#include "plan/sections/sections.h"
#include "plan/sections/subject_statements.h"

namespace capstan::plan {

namespace {

/// Returns the metadata of a workload with the labels and annotations that its scheduler reads.
Yaml workload_object(const PlanSpec& spec, const ServiceSpec& service, const RoleFleet& role) {
  Yaml object = kube_object(workload_api_version(service), workload_kind(service), workload_name(service, role.role),
                            spec.namespace_);
  Yaml labels = pod_labels(service, role.role);
  const Yaml queue = queue_labels(spec, service.tenant);
  for (const auto& [key, value] : queue.entries()) labels.set(key, value);
  object["metadata"].set("labels", std::move(labels));
  const Yaml annotations = topology_annotations(spec, service, role);
  if (!annotations.empty() && pod_scheduler(spec) != GangScheduler::kueue) {
    object["metadata"].set("annotations", annotations);
  }
  return object;
}

/// Returns the path of the file with the workload of a role, from the folder of the plan.
std::string workload_file(const ServiceSpec& service, const RoleFleet& role) {
  return fmt::format("workload/{}.yaml", workload_name(service, role.role));
}

/// States the replicas of a constant fleet. A scaler sets those of another fleet. kubectl removes a field that is in
/// the last applied configuration and not in the file, so the replicas would fall to their default; the comment says
/// how to avoid that.
/// @param split_by_kai  true: KAI makes a gang of each pod, about which lint would advise
void set_replicas(const ServiceSpec& service, const ServicePlan& fleet, const RoleFleet& role, bool split_by_kai,
                  Yaml& body) {
  if (fleet.scaler != ScalerKind::constant) return;
  body.set("replicas", role.minimum,
           fmt::format("{}a constant fleet; before you apply an autoscaler, delete this line and run: kubectl apply "
                       "set-last-applied -f {} (otherwise the next kubectl apply sets 1 replica)",
                       split_by_kai ? "capstan:ignore kai-deployment-not-gang each pod is a replica; " : "",
                       workload_file(service, role)));
}

Yaml deployment(const PlanSpec& spec, const ServiceSpec& service, const ServicePlan& fleet, const RoleFleet& role) {
  Yaml object = workload_object(spec, service, role);
  Yaml& body = object["spec"];
  set_replicas(service, fleet, role, role.minimum > 1 && pod_scheduler(spec) == GangScheduler::kai, body);
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
  Yaml object = workload_object(spec, service, role);
  Yaml& body = object["spec"];
  set_replicas(service, fleet, role, false, body);
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

void add_pod_statements(const PlanSpec& spec, const ServiceSpec& service, const ServicePlan& fleet,
                        const RoleFleet& role, Section& out) {
  SubjectStatements statements(workload_name(service, role.role), out);
  const PodTimes times = pod_times(service, fleet, role);
  const PodResourceNeeds share = resource_needs(role);
  statements.add("startup probe", explain::time_text(std::chrono::seconds(times.startup_s)), times.startup_why,
                 fleet.start.empty() ? Evidence::assumed : Evidence::modelled, Visibility::page);
  statements.add("drain", explain::time_text(std::chrono::seconds(times.drain_s)), times.drain_why,
                 times.is_answer_known ? Evidence::modelled : Evidence::assumed);
  statements.add(
      "grace period", explain::time_text(std::chrono::seconds(times.grace_s)),
      fmt::format("{} s until routers have dropped the pod + {} s of drain + 15 s", kPreStopS, times.drain_s),
      Evidence::modelled, Visibility::page);
  statements.add("pod",
                 fmt::format("{} {}, {} cores, {} GiB", device_of(role).per_pod,
                             gpu_resource(spec.cluster.cloud, role.engine.gpu), share.cpu, share.memory_gib),
                 share.why + "; requests equal limits, so that the pod has its cores to itself",
                 !share.is_machine_known         ? Evidence::assumed
                 : role.machine.has_stated_shape ? Evidence::stated
                                                 : Evidence::catalogue,
                 Visibility::one_service);
}

void add_workload(const PlanSpec& spec, const ServiceSpec& service, const ServicePlan& fleet, const RoleFleet& role,
                  Section& out) {
  const std::string name = workload_name(service, role.role);
  if (const std::optional<MissingCommand> missing = missing_command(service, role)) {
    out.statements.push_back({.name = name + " workload",
                              .value = "not written",
                              .why = fmt::format("{}; {}", missing->why, missing->instead),
                              .evidence = Evidence::none,
                              .visibility = Visibility::page,
                              .subject = name});
    return;
  }
  if (role.role != model::Role::both && !supports_disaggregation(service.engine)) {
    out.statements.push_back({.name = name + " KV transfer",
                              .value = "not configured",
                              .why = "the plan configures it for vLLM and SGLang; for this engine use NVIDIA Dynamo",
                              .evidence = Evidence::none,
                              .visibility = Visibility::page});
  }
  add_pod_statements(spec, service, fleet, role, out);
  const std::string file = workload_file(service, role);
  const EngineCommand engine = engine_command(service, role, 1);
  if (!engine.config.empty()) {
    Yaml config = kube_object("v1", "ConfigMap", config_name(service, role.role), spec.namespace_);
    config["data"].set(kConfigFile, engine.config);
    out.manifests.push_back({.file = file, .body = std::move(config)});
  }
  out.manifests.push_back(
      {.file = file,
       .body = role.pods > 1 ? leader_worker_set(spec, service, fleet, role) : deployment(spec, service, fleet, role)});
  out.manifests.push_back({.file = file, .body = http_service(spec, service, role.role)});
  out.manifests.push_back({.file = file, .body = disruption_budget(spec, service, role.role)});
}

/// Says which limits of a step the engines have, and for which engines the plan cannot set them.
void add_limits_statement(const PlanSpec& spec, Section& out) {
  std::string why =
      "the simulations ran with these limits, and the thresholds are computed with them; the defaults of an engine "
      "depend on its version and on the GPU";
  if (std::ranges::any_of(spec.services, [](const ServiceSpec& s) { return s.engine == Engine::triton; }))
    why += "; a Triton engine has the limits with which it was built, so build it with these";
  out.statements.push_back({.name = "limits of an engine step",
                            .value = fmt::format("{} sequences, {} tokens", kEngineLimits.max_seqs,
                                                 grouped_text(kEngineLimits.max_batched_tokens)),
                            .why = std::move(why),
                            .evidence = Evidence::assumed});
}

/// Adds the commands that give access to the weights and start the workloads.
void add_workload_commands(const PlanSpec& spec, Section& out) {
  const auto may_have_token = [](const ServiceSpec& s) { return downloads_weights(s) && !needs_model_secret(s); };
  if (std::ranges::any_of(spec.services, may_have_token)) {
    out.apply.push_back(
        {.step = ApplyStep::secrets,
         .command = fmt::format("kubectl -n {} create secret generic hugging-face --from-literal token=$HF_TOKEN",
                                spec.namespace_),
         .purpose = "the token with which the hub allows more downloads",
         .is_optional = true});
  }
  if (out.manifests.empty()) return;
  out.apply.push_back({.step = ApplyStep::workload, .command = "kubectl apply -f workload", .purpose = "the replicas"});
}

}  // namespace

Section workload_section(const PlanFacts& facts) {
  Section out{.key = "workload", .title = "Workload"};
  bool has_roles = false;
  for (std::size_t i = 0; i < facts.services.size(); ++i) {
    const ServiceSpec& service = facts.spec.services[i];
    for (RoleFleet role : facts.services[i].roles) {
      role.gpu_shares = mps_shares(facts, device_of(role).pool);
      add_workload(facts.spec, service, facts.services[i], role, out);
      has_roles |= role.role != model::Role::both;
    }
  }
  add_limits_statement(facts.spec, out);
  const auto is_constant = [](const ServicePlan& fleet) { return fleet.scaler == ScalerKind::constant; };
  const bool has_constant = std::ranges::any_of(facts.services, is_constant);
  const bool has_scaled = !std::ranges::all_of(facts.services, is_constant);
  out.answer =
      fmt::format("{}{}A replica gets requests when its model answers, and finishes the longest answer before it ends.",
                  has_constant ? "The workload of a constant fleet states its replicas in spec.replicas. " : "",
                  has_scaled ? "Scaled workloads set no spec.replicas, because the scaler sets it. " : "");
  if (has_roles) {
    out.page_answer =
        "No router is part of the plan, and without one no request is served: install one that sends each request to a "
        "prefill and then to a decode replica, such as NVIDIA Dynamo or llm-d.";
    out.answer += " " + out.page_answer;
  }
  add_workload_commands(facts.spec, out);
  return out;
}

}  // namespace capstan::plan
