#include "plan/monitoring/service_monitoring.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "plan/monitoring/template_values.h"
#include "plan/names.h"
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

/// Replaces the variables of the rows of one scope.
Monitoring expand_rows(const MonitoringTemplates& templates, const PlanSpec& spec, Scope scope,
                       const TemplateValues& values, std::string_view engine) {
  Monitoring out;
  const auto expanded = [&](const auto& row, const std::string& name) -> std::optional<std::string> {
    if (row.scope != scope || !has_component(spec, row.when)) return std::nullopt;
    auto query = expand(row.query, values);
    if (query) return std::move(*query);
    out.left_out.push_back(fmt::format("{}: {}", name, missing_words(query.error(), engine)));
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

}  // namespace

Monitoring service_monitoring(const MonitoringTemplates& templates, const PlanSpec& spec, const ServiceSpec& service) {
  return expand_rows(templates, spec, Scope::service, service_values(spec, service), engine_key(service.engine));
}

Monitoring cluster_monitoring(const MonitoringTemplates& templates, const PlanFacts& facts) {
  return expand_rows(templates, facts.spec, Scope::cluster, cluster_values(facts), "the cluster");
}

Yaml alert_rules(const std::vector<Alert>& alerts, const std::string& service) {
  Yaml rules = Yaml::list();
  for (const Alert& alert : alerts) {
    Yaml& rule = rules.add(Yaml::map({{"alert", alert.name}, {"expr", alert.query}, {"for", alert.duration}}));
    Yaml labels = Yaml::map({{"severity", alert.severity}});
    if (!service.empty()) labels.set("service", service);
    rule.set("labels", std::move(labels));
    rule["annotations"].set("summary", alert.summary);
  }
  return rules;
}

Yaml prometheus_rule(const PlanSpec& spec, const std::string& name, const std::string& service,
                     const std::vector<Alert>& alerts) {
  Yaml out = kube_object("monitoring.coreos.com/v1", "PrometheusRule", name, spec.namespace_);
  Yaml groups = Yaml::list();
  groups.add(Yaml::map({{"name", name}})).set("rules", alert_rules(alerts, service));
  out["spec"].set("groups", std::move(groups));
  return out;
}

}  // namespace capstan::plan
