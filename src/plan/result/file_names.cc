#include "plan/result/file_names.h"

namespace capstan::plan {

std::string scenario_file(const ServicePlan& service, ScalerKind scaler) {
  const std::string base = "scenarios/" + service.service;
  if (scaler == service.scaler) return "scenario-" + service.service + ".yaml";
  switch (scaler) {
    case ScalerKind::capstan:
      return base + "-capstan.yaml";
    case ScalerKind::scaled_object:
      return base + "-keda.yaml";
    case ScalerKind::hpa:
      return base + "-hpa.yaml";
    case ScalerKind::constant:
      return base + "-constant.yaml";
  }
  return base + ".yaml";
}

std::string comparison_file(const ServicePlan& service) { return "scenarios/" + service.service + "-scalers.yaml"; }

std::string worse_scenario_file(const ServicePlan& service, const Trial& trial) {
  std::string name;
  for (const char c : trial.name) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.';
    if (is_plain) name += c;
    if (!is_plain && !name.ends_with('-')) name += '-';
  }
  return "scenarios/" + service.service + "-" + name + ".yaml";
}

}  // namespace capstan::plan
