#include <fmt/format.h>

#include <utility>

#include "plan/monitoring/service_monitoring.h"
#include "plan/names.h"
#include "plan/scheduling.h"
#include "plan/sections/kill_switch.h"
#include "plan/sections/sections.h"

namespace capstan::plan {

namespace {

/// Adds the metrics to watch first, and the rows that have no value.
/// @param owner  of the metrics: a service, or empty for the cluster and for an only service
void add_headlines(const Monitoring& found, const std::string& owner, Section& out) {
  const std::string prefix = owner.empty() ? "" : owner + ": ";
  for (const Panel& panel : found.panels) {
    if (!panel.is_headline) continue;
    out.statements.push_back(
        {.name = prefix + panel.title, .value = panel.query, .why = "", .evidence = Evidence::none});
  }
  for (const std::string& row : found.left_out) {
    out.statements.push_back({.name = prefix + "left out", .value = row, .why = "", .evidence = Evidence::none});
  }
}

/// Adds the dashboard of a service, which shows the panels of the cluster too.
void add_dashboard(const PlanSpec& spec, const ServiceSpec& service, const Monitoring& monitoring,
                   const Monitoring& cluster, Section& out) {
  std::vector<Panel> panels = monitoring.panels;
  panels.insert(panels.end(), cluster.panels.begin(), cluster.panels.end());
  Yaml dashboard = kube_object("v1", "ConfigMap", service.name + "-dashboard", spec.namespace_);
  // The sidecar of Grafana's chart loads dashboards from ConfigMaps with this label.
  dashboard["metadata"]["labels"].set("grafana_dashboard", "1");
  dashboard["data"].set(service.name + ".json", grafana_dashboard(service.name, "capstan-" + service.name, panels));
  out.manifests.push_back(
      {.file = fmt::format("monitoring/{}-dashboard.yaml", service.name), .body = std::move(dashboard)});
}

}  // namespace

Section monitoring_section(const PlanFacts& facts) {
  const MonitoringTemplates& templates = MonitoringTemplates::bundled();
  Section out{.key = "monitoring", .title = "Monitoring and kill switch"};
  const Monitoring cluster = cluster_monitoring(templates, facts);
  for (const ServiceSpec& service : facts.spec.services) {
    const Monitoring monitoring = service_monitoring(templates, facts.spec, service);
    add_headlines(monitoring, facts.spec.services.size() == 1 ? "" : service.name, out);
    out.manifests.push_back({.file = fmt::format("monitoring/{}-rules.yaml", service.name),
                             .body = prometheus_rule(facts.spec, service.name, service.name, monitoring.alerts)});
    add_dashboard(facts.spec, service, monitoring, cluster, out);
  }
  add_headlines(cluster, "", out);
  if (!cluster.alerts.empty()) {
    out.manifests.push_back(
        {.file = "monitoring/cluster-rules.yaml",
         .body = prometheus_rule(facts.spec, cluster_queue_name(facts.spec) + "-cluster", "", cluster.alerts)});
  }
  out.answer =
      "Watch these metrics first; the dashboards and the alerts are in monitoring/. Kill switch: if the alert "
      "TtftP99AboveSlo fires after a change of an autoscaler, stop the scaler and set the most replicas that were "
      "ready "
      "at once in the simulations. Each scaler has commands of its own, and a command that gives the replicas back.";
  out.apply.push_back({.step = ApplyStep::monitoring,
                       .command = "kubectl apply -f monitoring",
                       .purpose = "the dashboards and the alerts"});
  out.commands = kill_switch_commands(facts);
  return out;
}

}  // namespace capstan::plan
