#pragma once

#include <string>
#include <vector>

#include "plan/monitoring/grafana.h"
#include "plan/monitoring/templates.h"
#include "plan/plan.h"

namespace capstan::plan {

struct Alert {
  std::string name{};
  std::string severity{};
  std::string duration{};
  std::string summary{};
  std::string query{};
};

/// The panels and alerts of one service.
struct ServiceMonitoring {
  std::vector<Panel> panels{};
  std::vector<Alert> alerts{};
  /// Rows that were left out, each with what is missing: "TpotP99AboveSlo: the engine has no tpot".
  std::vector<std::string> left_out{};
};

/// Replaces the variables of the templates by the values of a service. Rows of a component that the cluster lacks are
/// left out and not listed.
ServiceMonitoring service_monitoring(const MonitoringTemplates& templates, const PlanSpec& spec,
                                     const ServiceSpec& service, const ServicePlan& fleet);

/// Returns the alerts as a PrometheusRule of the Prometheus Operator.
Yaml prometheus_rule(const PlanSpec& spec, const ServiceSpec& service, const std::vector<Alert>& alerts);

}  // namespace capstan::plan
