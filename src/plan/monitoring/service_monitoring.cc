#include "plan/monitoring/service_monitoring.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "plan/monitoring/metric_sources.h"
#include "plan/monitoring/template_values.h"
#include "plan/objects/names.h"
#include "plan/objects/scheduling.h"

namespace capstan::plan {

namespace {

bool has_component(const PlanSpec& spec, Component component) {
  const bool has_nodes = spec.cluster.provisioner != Provisioner::none;
  switch (component) {
    case Component::none:
      return true;
    case Component::karpenter:
      return has_karpenter(spec.cluster);
    case Component::cluster_autoscaler:
      return has_nodes && !has_karpenter(spec.cluster);
    case Component::node_autoscaler:
      return has_nodes;
    case Component::kai:
      return pod_scheduler(spec) == GangScheduler::kai;
    case Component::kueue:
      return pod_scheduler(spec) == GangScheduler::kueue;
    case Component::default_scheduler:
      return pod_scheduler(spec) == GangScheduler::none;
  }
  return false;
}

/// Returns the row to use of all rows with the same id: the first one whose component and source the cluster has, or
/// else the first one whose component it has. Null if the cluster has no such component.
template <typename Row>
const Row* row_that_counts(const std::vector<Row>& rows, const PlanSpec& spec, const std::string& id) {
  const Row* without_source = nullptr;
  for (const Row& row : rows) {
    if (row.id != id || !has_component(spec, row.component)) continue;
    if (missing_source(spec.cluster, row.source).empty()) return &row;
    if (without_source == nullptr) without_source = &row;
  }
  return without_source;
}

/// Replaces the variables of the rows of one scope.
Monitoring expand_rows(const MonitoringTemplates& templates, const PlanSpec& spec, Scope scope,
                       const TemplateValues& values, std::string_view engine) {
  Monitoring out;
  const auto expanded = [&](const auto& rows, const auto& row, const std::string& name) -> std::optional<std::string> {
    if (row.scope != scope || row_that_counts(rows, spec, row.id) != &row) return std::nullopt;
    const std::string_view missing = missing_source(spec.cluster, row.source);
    if (!missing.empty()) {
      out.left_out.push_back({name, std::string(missing)});
      return std::nullopt;
    }
    auto query = expand(row.query, values);
    if (query) {
      out.sources.insert(row.source);
      return std::move(*query);
    }
    (is_optional_in_spec(query.error()) ? out.not_requested : out.left_out)
        .push_back({name, missing_words(query.error(), engine)});
    return std::nullopt;
  };
  for (const PanelTemplate& row : templates.panels) {
    if (auto query = expanded(templates.panels, row, row.title)) {
      out.panels.push_back({row.title, row.unit, *query, row.is_headline});
    }
  }
  for (const AlertTemplate& row : templates.alerts) {
    if (auto query = expanded(templates.alerts, row, row.id)) {
      out.alerts.push_back({row.id, row.severity, row.duration, row.summary, *query});
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
