#include "plan/monitoring/templates.h"

#include <utility>

#include "base/assert.h"
#include "manifest/fields.h"

namespace capstan::plan {

namespace {

using manifest::ErrorList;
using manifest::Fields;
using manifest::Node;

/// Reads a text that must be present.
void need_text(Fields& fields, std::string_view key, std::string& out) {
  if (fields.take_required(key) != nullptr) fields.text(key, out);
}

void read_scope(Fields& fields, Scope& out) {
  fields.choice<Scope>("scope", out, {{"service", Scope::service}, {"cluster", Scope::cluster}});
}

void read_when(Fields& fields, Component& out) {
  fields.choice<Component>("when", out,
                           {{"karpenter", Component::karpenter},
                            {"cluster_autoscaler", Component::cluster_autoscaler},
                            {"node_autoscaler", Component::node_autoscaler},
                            {"kai", Component::kai},
                            {"kueue", Component::kueue},
                            {"default_scheduler", Component::default_scheduler}});
}

void read_source(Fields& fields, MetricSource& out) {
  fields.choice<MetricSource>("source", out,
                              {{"engine", MetricSource::engine},
                               {"kube_state_metrics", MetricSource::kube_state_metrics},
                               {"dcgm", MetricSource::dcgm},
                               {"karpenter", MetricSource::karpenter},
                               {"cluster_autoscaler", MetricSource::cluster_autoscaler},
                               {"kai", MetricSource::kai},
                               {"kueue", MetricSource::kueue}});
}

PanelTemplate read_panel(const Node& node, ErrorList& errors) {
  PanelTemplate panel;
  Fields fields(node, "panel", errors);
  need_text(fields, "id", panel.id);
  need_text(fields, "title", panel.title);
  need_text(fields, "unit", panel.unit);
  need_text(fields, "query", panel.query);
  read_when(fields, panel.component);
  read_source(fields, panel.source);
  read_scope(fields, panel.scope);
  fields.boolean("headline", panel.is_headline);
  fields.finish();
  return panel;
}

AlertTemplate read_alert(const Node& node, ErrorList& errors) {
  AlertTemplate alert;
  Fields fields(node, "alert", errors);
  need_text(fields, "name", alert.id);
  need_text(fields, "severity", alert.severity);
  need_text(fields, "for", alert.duration);
  need_text(fields, "summary", alert.summary);
  need_text(fields, "query", alert.query);
  read_when(fields, alert.component);
  read_source(fields, alert.source);
  read_scope(fields, alert.scope);
  fields.finish();
  return alert;
}

}  // namespace

std::expected<MonitoringTemplates, manifest::Errors> MonitoringTemplates::parse(std::string_view text,
                                                                                const std::string& file) {
  const Result<Node> root = manifest::parse(text, file);
  if (!root) return std::unexpected(manifest::Errors(root.error()));
  MonitoringTemplates templates;
  ErrorList errors{.max_errors = ErrorList::kMaxErrors};
  Fields fields(*root, "monitoring", errors);
  for (const Node& node : fields.non_empty_list("panels")) templates.panels.push_back(read_panel(node, errors));
  for (const Node& node : fields.non_empty_list("alerts")) templates.alerts.push_back(read_alert(node, errors));
  fields.finish();
  if (!errors.ok()) return std::unexpected(errors.all());
  return templates;
}

const MonitoringTemplates& MonitoringTemplates::bundled() {
  static const MonitoringTemplates templates = [] {
    auto parsed = parse(bundled_monitoring_yaml(), "schema/monitoring.yaml");
    CAPSTAN_ASSERT(parsed.has_value());
    return std::move(*parsed);
  }();
  return templates;
}

}  // namespace capstan::plan
