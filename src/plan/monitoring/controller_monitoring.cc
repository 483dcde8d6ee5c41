#include "plan/monitoring/controller_monitoring.h"

#include <vector>

#include "plan/monitoring/grafana.h"
#include "plan/yaml.h"

namespace capstan::plan {

std::string controller_dashboard(const MonitoringTemplates& templates) {
  std::vector<Panel> panels;
  for (const PanelTemplate& row : templates.panels) {
    panels.push_back({.title = row.title, .unit = row.unit, .query = row.query, .is_headline = row.is_headline});
  }
  return grafana_dashboard("Capstan", "capstan-controller", panels);
}

std::string controller_rules(const MonitoringTemplates& templates) {
  Yaml rules = Yaml::list();
  for (const AlertTemplate& row : templates.alerts) {
    Yaml& rule = rules.add(Yaml::map({{"alert", row.name}, {"expr", row.query}, {"for", row.duration}}));
    rule.set("labels", Yaml::map({{"severity", row.severity}}));
    rule["annotations"].set("summary", row.summary);
  }
  Yaml groups = Yaml::list();
  groups.add(Yaml::map({{"name", "capstan"}})).set("rules", std::move(rules));
  Yaml out = Yaml::map({});
  out.set("groups", std::move(groups));
  return out.document();
}

}  // namespace capstan::plan
