#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include "plan/monitoring/metric_sources.h"
#include "plan/monitoring/service_monitoring.h"
#include "plan/objects/names.h"
#include "plan/objects/scheduling.h"
#include "plan/sections/kill_switch.h"
#include "plan/sections/sections.h"

namespace capstan::plan {

namespace {

/// Texts of the page about all services and the cluster.
struct PageLists {
  std::vector<std::string> watched{};  ///< titles
  std::vector<LeftOutRow> left_out{};  ///< rows whose metrics no component exports
};

template <typename Element>
void add_once(std::vector<Element>& list, const Element& element) {
  if (std::ranges::find(list, element) == list.end()) list.push_back(element);
}

/// Returns "NodeWaitTooLong, GPUs of the node pool: AKS runs Karpenter itself; ...", each reason once.
std::string left_out_words(const std::vector<LeftOutRow>& rows) {
  std::vector<LeftOutRow> joined;
  for (const LeftOutRow& row : rows) {
    const auto same = std::ranges::find(joined, row.reason, &LeftOutRow::reason);
    if (same == joined.end()) {
      joined.push_back(row);
    } else {
      same->name += ", " + row.name;
    }
  }
  std::string words;
  for (const LeftOutRow& row : joined)
    words += fmt::format("{}{}: {}", words.empty() ? "" : "; ", row.name, row.reason);
  return words;
}

/// Adds the metrics to watch first, and the alerts and panels that are left out, each with the reason.
/// @param owner  service of the metrics; empty: the cluster, or the only service of the plan
void add_headlines(const Monitoring& found, const std::string& owner, PageLists& page, Section& out) {
  const std::string prefix = owner.empty() ? "" : owner + ": ";
  for (const Panel& panel : found.panels) {
    if (!panel.is_headline) continue;
    add_once(page.watched, panel.title);
    out.statements.push_back(
        {.name = prefix + panel.title, .value = panel.query, .why = "", .evidence = Evidence::none});
  }
  for (const LeftOutRow& row : found.left_out) add_once(page.left_out, row);
  std::vector<LeftOutRow> left_out = found.left_out;
  left_out.insert(left_out.end(), found.not_requested.begin(), found.not_requested.end());
  for (const LeftOutRow& row : left_out) {
    out.statements.push_back(
        {.name = prefix + "left out", .value = row.name, .why = row.reason, .evidence = Evidence::none});
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
  PageLists page;
  const Monitoring cluster = cluster_monitoring(templates, facts);
  std::set<MetricSource> sources = cluster.sources;
  for (const ServiceSpec& service : facts.spec.services) {
    const Monitoring monitoring = service_monitoring(templates, facts.spec, service);
    sources.insert(monitoring.sources.begin(), monitoring.sources.end());
    add_headlines(monitoring, facts.spec.services.size() == 1 ? "" : service.name, page, out);
    out.manifests.push_back({.file = fmt::format("monitoring/{}-rules.yaml", service.name),
                             .body = prometheus_rule(facts.spec, service.name, service.name, monitoring.alerts)});
    add_dashboard(facts.spec, service, monitoring, cluster, out);
  }
  add_headlines(cluster, "", page, out);
  if (!cluster.alerts.empty()) {
    out.manifests.push_back(
        {.file = "monitoring/cluster-rules.yaml",
         .body = prometheus_rule(facts.spec, cluster_queue_name(facts.spec) + "-cluster", "", cluster.alerts)});
  }
  std::ranges::move(metric_source_manifests(facts.spec, sources), std::back_inserter(out.manifests));
  out.page_answer = "The dashboards and the alerts are in monitoring/.";
  out.answer = fmt::format(
      "Watch these metrics first; the dashboards and the alerts are in monitoring/. Kill switch: {} With resume, the "
      "autoscalers may remove replicas again.",
      kill_switch_words(facts.services));
  if (!page.watched.empty()) out.notes.push_back({"watch", fmt::format("{}", fmt::join(page.watched, "; "))});
  if (!page.left_out.empty()) out.notes.push_back({"left out", left_out_words(page.left_out)});
  out.apply.push_back(prometheus_command());
  out.apply.push_back({.step = ApplyStep::monitoring,
                       .command = "kubectl apply -f monitoring",
                       .purpose = "the dashboards and the alerts"});
  out.commands = kill_switch_commands(facts);
  return out;
}

}  // namespace capstan::plan
