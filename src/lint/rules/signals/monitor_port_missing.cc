#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "lint/pods.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace monitor_port_missing {
namespace {

/// An object that a monitor selects, and the names of its ports.
struct Selected {
  const Object* object = nullptr;
  std::vector<std::string_view> ports{};
};

bool may_be_selected(const Subject& s, const Object& object) {
  return s.object["spec"]["namespaceSelector"] || may_share_namespace(s.object, object);
}

void add_ports(const Value& ports, Selected& selected) {
  for (const Value& port : ports.children()) selected.ports.push_back(port["name"].text);
}

/// Returns the Services of the folder that a ServiceMonitor selects.
std::vector<Selected> selected_services(const Subject& s, const Value& labels) {
  std::vector<Selected> out;
  for (const Object* service : s.set.in_folder("Service", s.object)) {
    if (!may_be_selected(s, *service) || !selects(labels, at(*service, "metadata.labels"))) continue;
    add_ports((*service)["spec"]["ports"], out.emplace_back(Selected{.object = service}));
  }
  return out;
}

/// Returns the workloads of the folder whose pods a PodMonitor selects.
std::vector<Selected> selected_workloads(const Subject& s, const Value& labels) {
  std::vector<Selected> out;
  for (const std::string_view kind : {"Deployment", "StatefulSet", "DaemonSet", "LeaderWorkerSet"}) {
    for (const Object* workload : s.set.in_folder(kind, s.object)) {
      if (!may_be_selected(s, *workload) || is_partial(*workload)) continue;
      for (const Pod& pod : pods_of(*workload)) {
        if (!selects(labels, (*pod.metadata)["labels"])) continue;
        Selected& selected = out.emplace_back(Selected{.object = workload});
        for (const Value* container : all_containers_of(pod)) add_ports((*container)["ports"], selected);
      }
    }
  }
  return out;
}

void check(const Subject& s) {
  const Value& selector = s.object["spec"]["selector"];
  if (selector["matchExpressions"].count > 0) return;
  const bool is_for_pods = s.object.kind == "PodMonitor";
  const std::vector<Selected> selected =
      is_for_pods ? selected_workloads(s, selector["matchLabels"]) : selected_services(s, selector["matchLabels"]);
  if (selected.size() != 1) return;
  const Object& object = *selected.front().object;
  for (const Value& endpoint : s.object["spec"][is_for_pods ? "podMetricsEndpoints" : "endpoints"].children()) {
    const Value& port = endpoint["port"];
    if (!port.is_scalar() || is_template_variable(port.text)) continue;
    if (std::ranges::find(selected.front().ports, port.text) != selected.front().ports.end()) continue;
    Finding& finding = s.report(
        port,
        fmt::format("{} has no port with the name {}, so Prometheus scrapes nothing there", object.title(), port.text));
    s.require_object(finding, object, object.name).mark_absence();
    if (object.file->is_patched(object.kind)) finding.set_severity(Severity::info);  // a patch may add the port
  }
}

}  // namespace
}  // namespace monitor_port_missing

extern const Rule rule_monitor_port_missing;
const Rule rule_monitor_port_missing = {
    .id = "monitor-port-missing",
    .severity = Severity::warning,
    .kinds = "ServiceMonitor PodMonitor",
    .title = "a monitor names a port that the selected Service or pods do not have",
    .why =
        "Prometheus finds no target and reports no error. Every query of these metrics returns nothing, which looks "
        "like no load to an autoscaler. A monitor names a port by its name and not by its number.",
    .fix = "give the port of the Service or container this name, or name the port that it has",
    .source = "Prometheus operator API reference, Endpoint and PodMetricsEndpoint",
    .bad = R"(apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata: {name: vllm}
spec: {selector: {matchLabels: {app: vllm}}, endpoints: [{port: metrics}]}
---
apiVersion: v1
kind: Service
metadata: {name: vllm, labels: {app: vllm}}
spec: {selector: {app: vllm}, ports: [{name: http, port: 8000}]}
)",
    .good = R"(apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata: {name: vllm}
spec: {selector: {matchLabels: {app: vllm}}, endpoints: [{port: http}]}
---
apiVersion: v1
kind: Service
metadata: {name: vllm, labels: {app: vllm}}
spec: {selector: {app: vllm}, ports: [{name: http, port: 8000}]}
)",
    .check = monitor_port_missing::check,
};

}  // namespace capstan::lint
