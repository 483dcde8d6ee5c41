#include "plan/sections/scaler_setup.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "experiment/text/words.h"
#include "plan/objects/charts.h"
#include "plan/objects/names.h"
#include "plan/result/figures.h"
#include "plan/sections/kill_switch.h"
#include "plan/sections/metrics_setup.h"

namespace capstan::plan {

namespace {

std::string scaler_purpose(const ServicePlan& service, std::string_view option) {
  const std::string_view kind = option == "keda" ? "ScaledObject" : option == "hpa" ? "HPA" : "InferenceScaler";
  return fmt::format("the {} of {}", kind, service.service);
}

/// Returns the command that applies the scaler of a service, whose roles may have a file each.
std::string apply_command(const ServiceSpec& service, const ServicePlan& fleet, std::string_view option) {
  if (option == "capstan") return fmt::format("kubectl apply -f replicas/capstan/{}.yaml", service.name);
  std::string command = "kubectl apply";
  for (const RoleFleet& role : fleet.roles) {
    command += fmt::format(" -f replicas/{}/{}.yaml", option, workload_name(service, role.role));
  }
  return command;
}

void add_values(Section& section, std::string_view chart, Yaml body, Alternative alternative = {}) {
  section.manifests.push_back({.file = fmt::format("replicas/values/{}.yaml", chart),
                               .body = std::move(body),
                               .is_object = false,
                               .alternative = std::move(alternative)});
}

/// Adds the values of the charts. The command of the GPU Operator is in the section on sharing, which may have values
/// of its own.
void add_charts(const PlanFacts& facts, Section& section) {
  const Alternative adapter = shared_alternative(facts, "hpa");
  add_values(section, "prometheus-adapter", prometheus_adapter_values(facts.spec), adapter);
  section.apply.push_back({.step = ApplyStep::metrics,
                           .command = helm_install("prometheus-adapter",
                                                   "--namespace monitoring --values "
                                                   "replicas/values/prometheus-adapter.yaml"),
                           .purpose = "the metrics that an HPA reads",
                           .alternative = adapter});
  if (has_gpu_operator(facts.spec.cluster)) {
    add_values(section, "gpu-operator", gpu_operator_values(facts.spec.cluster));
    return;
  }
  add_values(section, "dcgm-exporter", dcgm_exporter_values());
  section.apply.push_back({.step = ApplyStep::metrics,
                           .command = helm_install("dcgm-exporter",
                                                   "--namespace monitoring --values "
                                                   "replicas/values/dcgm-exporter.yaml"),
                           .purpose = "the metrics of the GPUs"});
}

}  // namespace

std::string_view scaler_option(const ServicePlan& service) {
  switch (service.scaler) {
    case ScalerKind::capstan:
      return "capstan";
    case ScalerKind::hpa:
      return "hpa";
    case ScalerKind::constant:
      return {};
    case ScalerKind::scaled_object:
      break;
  }
  return "keda";
}

std::string_view spare_scaler_option(const ServicePlan& service) {
  const ScalerVariant* keda = find_variant(service, ScalerKind::scaled_object);
  return keda != nullptr && !keda->refusal_reason.empty() ? "capstan" : "keda";
}

std::string no_scaler_words(const ServicePlan& service) {
  if (service.scaler != ScalerKind::constant) return {};
  const bool is_capstan = spare_scaler_option(service) == "capstan";
  const ScalerVariant* spare = find_variant(service, is_capstan ? ScalerKind::capstan : ScalerKind::scaled_object);
  const bool is_simulated = spare != nullptr && !spare->seeds.empty();
  return fmt::format(
      "none: spec.replicas of the workload states the size. If the load exceeds that of its busiest 5 minutes, {:.2f} "
      "requests/s, apply the {}{}; the comment at spec.replicas says how",
      service.mean_load.peak_per_s, is_capstan ? "InferenceScaler" : "ScaledObject",
      is_simulated ? fmt::format(" with {} ({} USD/h on this load, simulated; more load was not simulated with it)",
                                 range_words(service, spare->roles), experiment::usd(micro_usd_per_hour(spare->seeds)))
                   : "");
}

Alternative scaler_alternative(const ServicePlan& service, std::string_view option) {
  return {.choice = "scaler of " + service.service,
          .option = std::string(option),
          .is_chosen = option == scaler_option(service)};
}

bool uses_scaler(const PlanFacts& facts, std::string_view option) {
  return std::ranges::any_of(facts.services,
                             [&](const ServicePlan& service) { return scaler_option(service) == option; });
}

bool is_spare_scaler(const PlanFacts& facts, std::string_view option) {
  const auto is_spare = [&](const ServicePlan& service) {
    return service.scaler == ScalerKind::constant && option == spare_scaler_option(service);
  };
  return !uses_scaler(facts, option) && std::ranges::any_of(facts.services, is_spare);
}

Alternative shared_alternative(const PlanFacts& facts, std::string_view option) {
  return {.choice = "scaler", .option = std::string(option), .is_chosen = uses_scaler(facts, option)};
}

void add_scaler_setup(const PlanFacts& facts, Section& section) {
  section.apply.push_back({.step = ApplyStep::metrics,
                           .command = "kubectl apply -f replicas/metrics",
                           .purpose = "the scraping of the engines"});
  add_charts(facts, section);
  if (const std::string save = save_signals_command(facts); !save.empty()) {
    section.apply.push_back({.step = ApplyStep::scaler,
                             .command = save,
                             .purpose = "the signals of autoscalers that change, for the kill switch"});
  }
  for (std::size_t i = 0; i < facts.services.size(); ++i) {
    const ServicePlan& fleet = facts.services[i];
    for (const std::string_view option : kScalerOptions) {
      const std::string command = apply_command(facts.spec.services[i], fleet, option);
      const Alternative alternative = scaler_alternative(fleet, option);
      for (Manifest& manifest : section.manifests) {
        if (command.find(" " + manifest.file) != command.npos) manifest.alternative = alternative;
      }
      const bool is_spare = fleet.scaler == ScalerKind::constant && option == spare_scaler_option(fleet);
      section.apply.push_back(
          {.step = ApplyStep::scaler,
           .command = command,
           .purpose = scaler_purpose(fleet, option) +
                      (is_spare ? ", for a load above the planned one; see spec.replicas in workload/" : ""),
           .alternative = alternative,
           .is_optional = is_spare});
    }
  }
  section.apply.push_back({.step = ApplyStep::scaler,
                           .command = "kubectl patch fleetpolicy default --type merge --patch '{\"spec\": {\"layers\": "
                                      "{\"replicas\": \"Active\"}}}'",
                           .purpose = "Capstan acts from now on",
                           .alternative = shared_alternative(facts, "capstan"),
                           .is_optional = is_spare_scaler(facts, "capstan")});
}

}  // namespace capstan::plan
