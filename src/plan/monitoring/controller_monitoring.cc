#include "plan/monitoring/controller_monitoring.h"

#include <vector>

#include "plan/monitoring/grafana.h"
#include "plan/monitoring/service_monitoring.h"
#include "plan/objects/yaml.h"

namespace capstan::plan {

std::string controller_dashboard(const MonitoringTemplates& templates) {
  std::vector<Panel> panels;
  for (const PanelTemplate& row : templates.panels) {
    panels.push_back({.title = row.title, .unit = row.unit, .query = row.query, .is_headline = row.is_headline});
  }
  return grafana_dashboard("Capstan", "capstan-controller", panels);
}

std::string controller_rules(const MonitoringTemplates& templates) {
  std::vector<Alert> alerts;
  for (const AlertTemplate& row : templates.alerts) {
    alerts.push_back({row.id, row.severity, row.duration, row.summary, row.query});
  }
  Yaml groups = Yaml::list();
  groups.add(Yaml::map({{"name", "capstan"}})).set("rules", alert_rules(alerts, ""));
  Yaml out = Yaml::map({});
  out.set("groups", std::move(groups));
  return out.document();
}

}  // namespace capstan::plan
