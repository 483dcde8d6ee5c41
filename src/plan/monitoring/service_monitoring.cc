#include "plan/monitoring/service_monitoring.h"

#include <fmt/format.h>

#include "plan/monitoring/template_values.h"
#include "plan/scheduling.h"

namespace capstan::plan {

namespace {

bool has_component(const PlanSpec& spec, std::string_view component) {
  if (component.empty()) return true;
  if (component == "karpenter") return has_karpenter(spec.cluster);
  if (component == "kai") return pod_scheduler(spec) == GangScheduler::kai;
  if (component == "kueue") return pod_scheduler(spec) == GangScheduler::kueue;
  if (component == "default_scheduler") return pod_scheduler(spec) == GangScheduler::none;
  if (component == "cluster_autoscaler") {
    return !has_karpenter(spec.cluster) && spec.cluster.provisioner != Provisioner::none;
  }
  return false;
}

}  // namespace

ServiceMonitoring service_monitoring(const MonitoringTemplates& templates, const PlanSpec& spec,
                                     const ServiceSpec& service, const ServicePlan& fleet) {
  ServiceMonitoring out;
  const TemplateValues values = template_values(spec, service, fleet);
  const auto expanded = [&](const auto& row, const std::string& name) -> std::optional<std::string> {
    if (!has_component(spec, row.when)) return std::nullopt;
    auto query = expand(row.query, values);
    if (query) return std::move(*query);
    out.left_out.push_back(fmt::format("{}: no {}", name, query.error()));
    return std::nullopt;
  };
  for (const PanelTemplate& row : templates.panels) {
    if (auto query = expanded(row, row.id)) out.panels.push_back({row.title, row.unit, *query, row.is_headline});
  }
  for (const AlertTemplate& row : templates.alerts) {
    if (auto query = expanded(row, row.name)) {
      out.alerts.push_back({row.name, row.severity, row.duration, row.summary, *query});
    }
  }
  return out;
}

Yaml prometheus_rule(const PlanSpec& spec, const ServiceSpec& service, const std::vector<Alert>& alerts) {
  Yaml rules = Yaml::list();
  for (const Alert& alert : alerts) {
    Yaml& rule = rules.add(Yaml::map({{"alert", alert.name}, {"expr", alert.query}, {"for", alert.duration}}));
    rule.set("labels", Yaml::map({{"severity", alert.severity}, {"service", service.name}}));
    rule["annotations"].set("summary", alert.summary);
  }
  Yaml out = Yaml::map({{"apiVersion", "monitoring.coreos.com/v1"}, {"kind", "PrometheusRule"}});
  out.set("metadata", Yaml::map({{"name", service.name}, {"namespace", spec.namespace_}}));
  Yaml groups = Yaml::list();
  groups.add(Yaml::map({{"name", service.name}})).set("rules", std::move(rules));
  out["spec"].set("groups", std::move(groups));
  return out;
}

}  // namespace capstan::plan
