#pragma once

#include <string>

#include "plan/monitoring/templates.h"

// The files of deploy/monitoring, for the metrics of Capstan's controller. scripts/generate writes them from
// schema/controller-monitoring.yaml.
namespace capstan::plan {

/// Returns the panels as a Grafana dashboard.
/// @param templates  panels and alerts whose queries have no variables
std::string controller_dashboard(const MonitoringTemplates& templates);

/// Returns the alerts as a rule file of Prometheus.
std::string controller_rules(const MonitoringTemplates& templates);

}  // namespace capstan::plan
