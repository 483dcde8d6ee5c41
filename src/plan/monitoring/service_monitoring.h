#pragma once

#include <set>
#include <string>
#include <vector>

#include "plan/monitoring/grafana.h"
#include "plan/monitoring/templates.h"
#include "plan/result/plan_facts.h"

namespace capstan::plan {

struct Alert {
  std::string name{};
  std::string severity{};
  std::string duration{};
  std::string summary{};
  std::string query{};
};

/// A panel or an alert that is not written.
struct LeftOutRow {
  std::string name{};  ///< name of the alert, or title of the panel
  std::string reason{};
  friend bool operator==(const LeftOutRow&, const LeftOutRow&) = default;
};

/// The panels and alerts of one service, or of the cluster.
struct Monitoring {
  std::vector<Panel> panels{};
  std::vector<Alert> alerts{};
  std::vector<LeftOutRow> left_out{};       ///< rows without a source: "triton reports no tpot"
  std::vector<LeftOutRow> not_requested{};  ///< rows that the spec does not ask for: "the service has no slo.tpot"
  std::set<MetricSource> sources{};         ///< sources that the panels and alerts need
};

/// Replaces the variables of the templates of services by the values of one service. Rows of a component that the
/// cluster lacks are left out and not listed; rows whose source has no manifest are left out and listed.
Monitoring service_monitoring(const MonitoringTemplates& templates, const PlanSpec& spec, const ServiceSpec& service);

/// Does the same with the templates of the cluster.
Monitoring cluster_monitoring(const MonitoringTemplates& templates, const PlanFacts& facts);

/// Returns the rules of a group of Prometheus rules.
/// @param service  value of the label `service`; empty: the alerts have no such label
Yaml alert_rules(const std::vector<Alert>& alerts, const std::string& service);

/// Returns alerts as a PrometheusRule of the Prometheus Operator.
/// @param service  as for alert_rules()
Yaml prometheus_rule(const PlanSpec& spec, const std::string& name, const std::string& service,
                     const std::vector<Alert>& alerts);

}  // namespace capstan::plan
