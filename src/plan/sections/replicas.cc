#include <fmt/format.h>

#include <algorithm>

#include "experiment/words.h"
#include "explain/words.h"
#include "plan/figures.h"
#include "plan/sections/engine_metrics.h"
#include "plan/sections/scalers.h"
#include "plan/sections/sections.h"

namespace capstan::plan {

namespace {

void add_signal_statements(const ScalerFacts& facts, const ServicePlan& fleet, Section& out) {
  const SignalChoice& signal = facts.signal;
  const std::string prefix = workload_name(facts.service, facts.role.role) + " ";
  const auto add = [&](std::string_view name, std::string value, std::string why, Evidence evidence) {
    out.statements.push_back({prefix + std::string(name), std::move(value), std::move(why), evidence});
  };
  add("signal", signal_word(signal.kind), fmt::format("{}: {}", kind_word(signal.kind), signal.kind_why),
      Evidence::modelled);
  add("sequences at once", fmt::format("{}", signal.batch),
      fmt::format("the most that one replica runs within the SLO, limited by {}", bound_word(signal.bound)),
      Evidence::modelled);
  add("waiting per replica", fmt::format("{}", signal.waiting), signal.waiting_why,
      signal.is_waiting_assumed ? Evidence::assumed : Evidence::modelled);
  if (signal.uses_kv()) {
    add("KV memory per replica", fmt::format("{} %", signal.kv_percent), signal.kv_why, Evidence::modelled);
  }
  add("in flight per replica", fmt::format("{}", signal.in_flight), signal.in_flight_why, Evidence::modelled);
  add("replicas", fmt::format("{} to {}", facts.role.minimum, facts.role.maximum),
      fmt::format("{} ready at the highest simulated load", facts.role.peak_ready), Evidence::simulated);
  add("scale-down window", explain::time_text(std::chrono::seconds(scale_down_window_s(facts.start))),
      fmt::format("twice the longest cold start of {}, 10 min to 1 h", explain::time_text(facts.start.longest)),
      fleet.start.empty() ? Evidence::assumed : Evidence::modelled);
}

void add_role(const PlanFacts& facts, const ServiceSpec& service, const ServicePlan& fleet, const RoleFleet& role,
              Section& out) {
  const ScalerFacts scaler = scaler_facts(facts.spec, service, fleet, role);
  add_signal_statements(scaler, fleet, out);
  const std::string name = workload_name(service, role.role);
  const bool is_first = out.manifests.empty();
  out.manifests.push_back(
      {.file = fmt::format("replicas/keda/{}.yaml", name), .body = keda_scaled_object(scaler), .is_on_page = is_first});
  out.manifests.push_back({.file = fmt::format("replicas/hpa/{}.yaml", name), .body = external_metrics_hpa(scaler)});
}

/// Says what the thresholds reach on the plan's load, and with which minimum.
void add_threshold_trials(const ServiceSpec& service, const ServicePlan& fleet, Section& out) {
  std::string minima;
  for (const RoleFleet& role : fleet.roles) {
    minima += fmt::format("{}{}", minima.empty() ? "" : " and ", std::max(role.minimum, role.threshold_minimum));
  }
  for (const ThresholdTrial& trial : fleet.threshold_trials) {
    const std::string name = fmt::format("{} {}", service.name, trial.kind);
    if (!trial.refused.empty()) {
      out.not_simulated.push_back(fmt::format("{}: {}", name, trial.refused));
      continue;
    }
    out.statements.push_back(
        {.name = name,
         .value = fmt::format("{} % met for {} USD/h", experiment::tenths(trial.attainment_ppm, 10'000),
                              experiment::usd(trial.micro_usd_per_hour)),
         .why =
             fmt::format("in place of Capstan's policy, with a minimum of {}, lowest of {} simulations; Capstan: {} % "
                         "for {} USD/h",
                         minima, trial.simulations, experiment::tenths(lowest_attainment_ppm(fleet), 10'000),
                         experiment::usd(micro_usd_per_hour(fleet))),
         .evidence = Evidence::simulated});
  }
}

void add_forbidden_signals(Section& out) {
  out.statements.push_back(
      {.name = "forbidden signal",
       .value = "DCGM_FI_DEV_GPU_UTIL",
       .why =
           "it is the share of time in which any kernel ran, so it is near 100 % with one request and with a hundred; "
           "with a target of 65 % the HPA adds replicas until its maximum (100 / 65 = 1.54 times as many at each "
           "step) and never removes one",
       .evidence = Evidence::modelled});
  out.statements.push_back(
      {.name = "forbidden signal",
       .value = "DCGM_FI_DEV_FB_USED",
       .why = "the engine reserves its KV memory at its start, so it does not change with the load",
       .evidence = Evidence::modelled});
}

void add_commands(const PlanFacts& facts, Section& out) {
  out.commands = {
      "kubectl apply -f replicas/metrics",
      "helm upgrade --install gpu-operator nvidia/gpu-operator --namespace gpu-operator --create-namespace --values "
      "replicas/values/gpu-operator.yaml",
      "kubectl apply -f replicas/keda  # with KEDA",
      "helm upgrade --install prometheus-adapter prometheus-community/prometheus-adapter --namespace monitoring "
      "--values replicas/values/prometheus-adapter.yaml  # with an HPA",
      "kubectl apply -f replicas/hpa  # with an HPA",
      "kubectl apply -f replicas/capstan  # with Capstan, which acts after the next command",
      "kubectl patch fleetpolicy default --type merge --patch '{\"spec\": {\"layers\": {\"replicas\": \"Active\"}}}'"};
  const bool is_disaggregated = std::ranges::any_of(facts.spec.services, &ServiceSpec::is_disaggregated);
  out.answer = fmt::format(
      "Scale on the load that the engines report, not on the GPU. {}Apply one of replicas/keda, replicas/hpa and "
      "replicas/capstan: two scalers of one target undo each other's changes. The replicas of this plan were simulated "
      "with Capstan's policy.",
      is_disaggregated ? "Prefill and decode have scalers of their own, because different work limits them. " : "");
}

}  // namespace

Section replicas_section(const PlanFacts& facts) {
  Section out{.key = "replicas", .title = "Replicas"};
  bool is_other_engine = false;
  for (std::size_t i = 0; i < facts.services.size(); ++i) {
    const ServiceSpec& service = facts.spec.services[i];
    const ServicePlan& fleet = facts.services[i];
    for (const RoleFleet& role : fleet.roles) add_role(facts, service, fleet, role, out);
    add_threshold_trials(service, fleet, out);
    out.manifests.push_back({.file = fmt::format("replicas/capstan/{}.yaml", service.name),
                             .body = inference_scaler(facts.spec, service, fleet)});
    out.manifests.push_back(
        {.file = fmt::format("replicas/metrics/{}.yaml", service.name), .body = pod_monitor(facts.spec, service)});
    is_other_engine |= service.engine != Engine::vllm;
  }
  if (is_other_engine) {
    out.not_simulated.push_back(
        "the ScaledObjects and HPAs of engines other than vLLM, whose metrics the simulator "
        "does not export");
  }
  add_forbidden_signals(out);
  add_commands(facts, out);
  const auto add_values = [&](std::string_view file, Yaml body) {
    out.manifests.push_back(
        {.file = fmt::format("replicas/values/{}.yaml", file), .body = std::move(body), .is_object = false});
  };
  add_values("prometheus-adapter", prometheus_adapter_values(facts.spec));
  add_values("gpu-operator", gpu_operator_values());
  add_values("dcgm-exporter", dcgm_exporter_values());
  return out;
}

}  // namespace capstan::plan
