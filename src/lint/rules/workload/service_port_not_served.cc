#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "lint/engine_server.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace service_port_not_served {
namespace {

/// The only pod that a Service or a monitor selects, with the engine that is its only server.
struct Selected {
  const Object* object = nullptr;
  const Value* container = nullptr;
  EngineServer server{};
};

/// Returns the pod that the labels select. Returns none if they select several pods, or if other processes of the pod
/// may listen.
std::optional<Selected> selected_engine(const Subject& s, const Value& labels) {
  std::vector<std::pair<const Object*, Pod>> pods;
  for (const std::string_view kind : {"Deployment", "StatefulSet", "DaemonSet", "LeaderWorkerSet", "Pod"}) {
    for (const Object* object : s.set.in_folder(kind, s.object)) {
      if (!may_share_namespace(s.object, *object)) continue;
      for (const Pod& pod : pods_of(*object)) {
        if (labels.count > 0 && selects(labels, (*pod.metadata)["labels"])) pods.emplace_back(object, pod);
      }
    }
  }
  if (pods.size() != 1 || is_partial(*pods.front().first)) return std::nullopt;
  const auto& [object, pod] = pods.front();
  const std::optional<EngineServer> server = only_server(pod);
  if (!server) return std::nullopt;
  return Selected{.object = object, .container = *containers_of(pod).begin(), .server = *server};
}

/// Returns true if the engine does not listen on this port, which is a number or the name of a port of the container.
/// Returns false for a name that the container lacks, because this is another defect.
bool is_not_served(const Selected& selected, const Value& port) {
  const std::optional<std::int64_t> number = port_number(*selected.container, port);
  return number && *number != selected.server.port;
}

/// Reports a port, given as a value of the object that the rule checks.
void report(const Subject& s, const Selected& selected, const Value& port, Severity severity) {
  Finding& finding =
      s.report(port, fmt::format("nothing listens on port {} of {}: {} serves requests and /metrics on port {}",
                                 *port_number(*selected.container, port), selected.object->title(),
                                 selected.server.kind == EngineKind::sglang ? "SGLang" : "vLLM", selected.server.port));
  finding.set_severity(severity);
  s.require_object(finding, *selected.object, selected.object->name).mark_absence();
  // A patch may change the command of the engine.
  if (selected.object->file->is_patched(selected.object->kind)) finding.set_severity(Severity::info);
}

const Value& target_of(const Value& entry) { return entry["targetPort"] ? entry["targetPort"] : entry["port"]; }

void check_service(const Subject& s) {
  const Value& spec = s.object["spec"];
  if (spec["clusterIP"].is("None")) return;  // clients connect to any port of the pods
  const std::optional<Selected> selected = selected_engine(s, spec["selector"]);
  if (!selected) return;
  const auto is_dead = [&](const Value& entry) { return is_not_served(*selected, target_of(entry)); };
  const bool has_no_other = std::ranges::all_of(spec["ports"].children(), is_dead);
  for (const Value& entry : spec["ports"].children()) {
    if (is_dead(entry)) report(s, *selected, target_of(entry), has_no_other ? Severity::error : Severity::warning);
  }
}

void check_monitor(const Subject& s) {
  const Value& selector = s.object["spec"]["selector"];
  if (selector["matchExpressions"].count > 0) return;
  const std::optional<Selected> selected = selected_engine(s, selector["matchLabels"]);
  if (!selected) return;
  for (const Value& endpoint : s.object["spec"]["podMetricsEndpoints"].children()) {
    if (is_not_served(*selected, endpoint["port"])) report(s, *selected, endpoint["port"], Severity::warning);
  }
}

/// Checks the annotation by which many configurations of Prometheus find the port of a pod.
void check_annotation(const Subject& s) {
  if (is_partial(s.object)) return;
  for (const Pod& pod : pods_of(s.object)) {
    const Value& annotations = (*pod.metadata)["annotations"];
    const Value& port = annotations["prometheus.io/port"];
    const std::optional<EngineServer> server = only_server(pod);
    if (!server || !annotations["prometheus.io/scrape"].is("true")) continue;
    const Selected selected{.object = &s.object, .container = *containers_of(pod).begin(), .server = *server};
    if (is_not_served(selected, port)) report(s, selected, port, Severity::warning);
  }
}

void check(const Subject& s) {
  if (s.object.kind == "Service") return check_service(s);
  if (s.object.kind == "PodMonitor") return check_monitor(s);
  check_annotation(s);
}

}  // namespace
}  // namespace service_port_not_served

extern const Rule rule_service_port_not_served;
const Rule rule_service_port_not_served = {
    .id = "service-port-not-served",
    .severity = Severity::error,
    .kinds = "Service PodMonitor Deployment StatefulSet DaemonSet Pod",
    .title = "a Service or a monitor targets a port on which the engine does not listen",
    .why =
        "vLLM and SGLang serve requests and metrics on one port: that of --port, else 8000 for vLLM and 30000 for "
        "SGLang. A containerPort opens no port. Connections to another port are refused, and Prometheus gets no "
        "metrics there. The finding is a warning if the Service has another port that works, and for the port of a "
        "monitor or "
        "of the annotation prometheus.io/port.",
    .fix = "target the port of the engine, or set --port",
    .source = "vLLM documentation, production metrics and serve arguments; SGLang documentation, server arguments",
    .bad = R"(apiVersion: v1
kind: Service
metadata: {name: chat}
spec:
  selector: {app: chat}
  ports: [{name: http, port: 8000}, {name: metrics, port: 8080}]
---
apiVersion: v1
kind: Pod
metadata: {name: chat, labels: {app: chat}}
spec:
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.20.0
      args: [--model, Qwen/Qwen3-8B]
      resources: {limits: {nvidia.com/gpu: 1}}
)",
    .good = R"(apiVersion: v1
kind: Service
metadata: {name: chat}
spec:
  selector: {app: chat}
  ports: [{name: http, port: 8000}]
---
apiVersion: v1
kind: Pod
metadata: {name: chat, labels: {app: chat}}
spec:
  containers:
    - name: vllm
      image: vllm/vllm-openai:v0.20.0
      args: [--model, Qwen/Qwen3-8B]
      resources: {limits: {nvidia.com/gpu: 1}}
)",
    .check = service_port_not_served::check,
};

}  // namespace capstan::lint
