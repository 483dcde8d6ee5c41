#include <fmt/format.h>

#include <algorithm>

#include "base/ascii.h"
#include "plan/figures.h"
#include "plan/monitoring/service_monitoring.h"
#include "plan/names.h"
#include "plan/sections/sections.h"

namespace capstan::plan {

namespace {

/// The commands that stop every scaler and set the number of replicas that carried the highest simulated load.
void add_kill_switch(const PlanFacts& facts, Section& out) {
  out.commands.push_back("kubectl patch fleetpolicy default --type merge --patch '{\"spec\": {\"halt\": true}}'");
  for (std::size_t i = 0; i < facts.services.size(); ++i) {
    for (const RoleFleet& role : facts.services[i].roles) {
      const std::string name = workload_name(facts.spec.services[i], role.role);
      std::string kind(workload_kind(facts.spec.services[i]));
      std::ranges::transform(kind, kind.begin(), ascii_lower);
      const ReplicaCount safe = std::max(role.peak_ready, role.minimum);
      out.commands.push_back(
          fmt::format("kubectl -n {} annotate scaledobject {} autoscaling.keda.sh/paused-replicas={} --overwrite",
                      facts.spec.namespace_, name, safe));
      out.commands.push_back(
          fmt::format("kubectl -n {} patch hpa {} --type merge --patch '{{\"spec\": "
                      "{{\"minReplicas\": {}, \"maxReplicas\": {}}}}}'",
                      facts.spec.namespace_, name, safe, safe));
      out.commands.push_back(
          fmt::format("kubectl -n {} scale {} {} --replicas {}", facts.spec.namespace_, kind, name, safe));
    }
  }
}

void add_headlines(const ServicePlan& service, bool is_only, const ServiceMonitoring& found, Section& out) {
  for (const Panel& panel : found.panels) {
    if (!panel.is_headline) continue;
    out.statements.push_back({.name = is_only ? panel.title : service.service + ": " + panel.title,
                              .value = panel.query,
                              .why = "",
                              .evidence = Evidence::catalogue});
  }
  for (const std::string& row : found.left_out) {
    out.statements.push_back({.name = "left out",
                              .value = row,
                              .why = "the engine or the spec does not give it",
                              .evidence = Evidence::catalogue});
  }
}

}  // namespace

Section monitoring_section(const PlanFacts& facts) {
  Section out{.key = "monitoring", .title = "Monitoring and kill switch"};
  for (std::size_t i = 0; i < facts.services.size(); ++i) {
    const ServiceSpec& spec = facts.spec.services[i];
    const ServiceMonitoring found =
        service_monitoring(MonitoringTemplates::bundled(), facts.spec, spec, facts.services[i]);
    add_headlines(facts.services[i], facts.services.size() == 1, found, out);
    out.manifests.push_back({.file = fmt::format("monitoring/{}-rules.yaml", spec.name),
                             .body = prometheus_rule(facts.spec, spec, found.alerts)});
    // The sidecar of Grafana's chart loads dashboards from ConfigMaps with this label.
    Yaml dashboard = Yaml::map({{"apiVersion", "v1"}, {"kind", "ConfigMap"}});
    dashboard.set("metadata", Yaml::map({{"name", spec.name + "-dashboard"}, {"namespace", facts.spec.namespace_}}));
    dashboard["metadata"]["labels"].set("grafana_dashboard", "1");
    dashboard["data"].set(spec.name + ".json", grafana_dashboard(spec.name, "capstan-" + spec.name, found.panels));
    out.manifests.push_back(
        {.file = fmt::format("monitoring/{}-dashboard.yaml", spec.name), .body = std::move(dashboard)});
  }
  out.answer =
      "Watch these metrics first; the dashboard and the alerts are in monitoring/. Kill switch: if the alert "
      "TtftP99AboveSlo fires after a change of an autoscaler, stop it and return to the replicas that carried the "
      "highest simulated load. Of the commands below, those of the scaler in use apply.";
  out.commands.push_back("kubectl apply -f monitoring  # once; the commands below are the kill switch");
  add_kill_switch(facts, out);
  return out;
}

}  // namespace capstan::plan
