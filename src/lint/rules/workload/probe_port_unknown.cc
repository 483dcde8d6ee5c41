#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "lint/kubernetes_types.h"
#include "lint/misspelling.h"
#include "lint/pods.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace probe_port_unknown {
namespace {

/// A probe that names a port.
struct NamedPort {
  std::string_view probe;  ///< "readiness"
  const Value* port = nullptr;
};

bool has_port(const Value& container, std::string_view name) {
  return std::ranges::any_of(container["ports"].children(), [&](const Value& port) { return port["name"].is(name); });
}

/// Returns true if the ports of a container, or their names, are filled in later.
bool has_variable_ports(const Value& container) {
  const Value& ports = container["ports"];
  return (ports && !ports.is_sequence()) || std::ranges::any_of(ports.children(), [](const Value& port) {
           return !port.is_mapping() || is_template_variable(port["name"].text);
         });
}

/// Returns the probes of a container that name a port which the container lacks, the most severe first.
std::vector<NamedPort> unknown_ports(const Value& container) {
  std::vector<NamedPort> unknown;
  constexpr std::pair<std::string_view, std::string_view> kProbes[] = {
      {"startupProbe", "startup"}, {"readinessProbe", "readiness"}, {"livenessProbe", "liveness"}};
  for (const auto& [key, probe] : kProbes) {
    for (const std::string_view handler : {"httpGet", "tcpSocket"}) {
      const Value& port = container[key][handler]["port"];
      const bool is_name = port.is_scalar() && !port.integer() && !is_variable(port.text);
      if (!is_name || has_port(container, port.text)) continue;
      unknown.push_back({probe, &port});
      break;  // the API server accepts one handler
    }
  }
  return unknown;
}

/// Returns the name of another container of the pod that has a port of this name; empty if there is none.
std::string_view other_container(const Pod& pod, std::string_view name) {
  for (const Value* container : all_containers_of(pod)) {
    if (has_port(*container, name)) return (*container)["name"].text;
  }
  return "";
}

/// Returns the consequence of probes that never have a result. The kubelet drops the result of a probe whose port it
/// cannot find: a container then never counts as started or ready, and is never restarted.
std::string_view consequence_of(std::string_view probe) {
  if (probe == "startup") return "the container never counts as started, and the pod never becomes ready";
  if (probe == "readiness") return "the pod never becomes ready";
  return "a container that hangs is never restarted";
}

/// Adds the edits that make the probes use the only port of the container, or the port with a similar name.
void add_edits(Finding& finding, const Value& container, const std::vector<NamedPort>& probes) {
  const auto ports = container["ports"].children();
  const auto meant = [&](const Value& port) {
    return ports.size() == 1 || is_misspelling(port["name"].text, probes.front().port->text);
  };
  const auto found = std::ranges::find_if(ports, meant);
  if (found == ports.end()) return;
  const Value& name = (*found)["name"];
  for (const NamedPort& probe : probes) {
    // A quoted number would be a name without a letter, which the API server refuses.
    const bool takes_number = probe.port->style == manifest::Style::plain && (*found)["containerPort"].integer();
    if (name) finding.replace(*probe.port, name.text);
    if (!name && takes_number) finding.replace(*probe.port, (*found)["containerPort"].text);
  }
}

/// Reports all probes of a container that name the same port.
void report(const Subject& s, const Pod& pod, const Value& container, const std::vector<NamedPort>& probes) {
  const std::string_view name = probes.front().port->text;
  std::string words;
  for (const NamedPort& probe : probes) words += (words.empty() ? "" : " and ") + std::string(probe.probe);
  std::string message =
      fmt::format("container {} has no port with the name {} for its {} {}: {}", container["name"].text, name, words,
                  probes.size() > 1 ? "probes" : "probe", consequence_of(probes.front().probe));
  if (const std::string_view other = other_container(pod, name); !other.empty())
    message += fmt::format("; container {} has the port, but a probe uses the ports of its own container", other);
  Finding& finding = s.report(*probes.front().port, std::move(message));
  if (probes.front().probe == "liveness") finding.set_severity(Severity::warning);
  add_edits(finding, container, probes);
  finding.mark_absence();
  if (is_operated(s.object)) finding.set_severity(Severity::info);  // the operator may add the port
}

void check_container(const Subject& s, const Pod& pod, const Value& container) {
  if (has_variable_ports(container)) return;
  std::vector<NamedPort> unknown = unknown_ports(container);
  while (!unknown.empty()) {
    const std::string_view name = unknown.front().port->text;
    const auto is_same = [&](const NamedPort& probe) { return probe.port->text == name; };
    const auto others = std::ranges::stable_partition(unknown, is_same).begin();
    report(s, pod, container, {unknown.begin(), others});
    unknown.erase(unknown.begin(), others);
  }
}

void check(const Subject& s) {
  if (is_partial(s.object)) return;  // the ports may be in the object into which it is merged
  for (const Pod& pod : pods_of(s.object)) {
    for (const Value* container : all_containers_of(pod)) check_container(s, pod, *container);
  }
}

}  // namespace
}  // namespace probe_port_unknown

extern const Rule rule_probe_port_unknown;
const Rule rule_probe_port_unknown = {
    .id = "probe-port-unknown",
    .severity = Severity::error,
    .kinds = "@pods",
    .title = "a probe names a port that its container does not have",
    .why =
        "A probe may name a port of its own container. The API server does not check the name, and the kubelet drops "
        "every result: \"probe errored: couldn't find port\". With a readiness or startup probe the pod never becomes "
        "ready and gets no requests. With a liveness probe alone, which is a warning, a container that hangs is never "
        "restarted. The finding is advice if an operator makes the pods, because it may add ports.",
    .fix = "name a port of the container, give its port this name, or write the port's number",
    .fix_safety = FixSafety::unsafe,
    .source = "Kubernetes documentation, configure liveness, readiness and startup probes",
    .bad = R"(apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.20.0
      ports: [{name: http-api, containerPort: 8000}]
      readinessProbe: {httpGet: {path: /health, port: http}}
)",
    .good = R"(apiVersion: v1
kind: Pod
metadata: {name: chat}
spec:
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.20.0
      ports: [{name: http-api, containerPort: 8000}]
      readinessProbe: {httpGet: {path: /health, port: http-api}}
)",
    .check = probe_port_unknown::check,
};

}  // namespace capstan::lint
