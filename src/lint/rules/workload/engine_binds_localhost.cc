#include <fmt/format.h>

#include <algorithm>

#include "lint/engine_server.h"
#include "lint/rule.h"
#include "lint/serving.h"

namespace capstan::lint {
namespace engine_binds_localhost {
namespace {

/// Returns the name of the first probe that the kubelet sends to a port of the container; empty if there is none. A
/// probe with a host of its own may go elsewhere.
std::string_view probe_to(const Value& container, std::int64_t port) {
  for (const std::string_view name : {"startupProbe", "readinessProbe", "livenessProbe"}) {
    for (const std::string_view action : {"httpGet", "tcpSocket", "grpc"}) {
      const Value& target = container[name][action];
      if (target && !target["host"] && port_number(container, target["port"]) == port) return name;
    }
  }
  return {};
}

/// Returns a Service of the folder that sends requests to a port of the container; null if there is none.
const Object* service_to(const Subject& s, const Pod& pod, const Value& container, std::int64_t port) {
  for (const Object* service : s.set.in_folder("Service", s.object)) {
    if (!may_share_namespace(*service, s.object)) continue;
    if (!selects(at(*service, "spec.selector"), (*pod.metadata)["labels"])) continue;
    const auto reaches = [&](const Value& entry) {
      return port_number(container, entry["targetPort"] ? entry["targetPort"] : entry["port"]) == port;
    };
    if (std::ranges::any_of((*service)["spec"]["ports"].children(), reaches)) return service;
  }
  return nullptr;
}

/// Returns true if the pod has a proxy of a service mesh, which may connect from inside the pod.
bool has_mesh(const Pod& pod) {
  const auto names_mesh = [](const Value& entry) {
    return entry.key.find("istio.io/") != entry.key.npos || entry.key.starts_with("linkerd.io/");
  };
  return std::ranges::any_of((*pod.metadata)["labels"].children(), names_mesh) ||
         std::ranges::any_of((*pod.metadata)["annotations"].children(), names_mesh);
}

void check_container(const Subject& s, const Pod& pod, const Value& container) {
  const std::optional<EngineServer> server = engine_server(container);
  if (!server || !server->is_on_localhost) return;
  const std::string_view engine = server->kind == EngineKind::sglang ? "SGLang" : "vLLM";
  const std::string_view probe = probe_to(container, server->port);
  const Object* service = service_to(s, pod, container, server->port);
  if (probe.empty() && service == nullptr) return;
  Finding& finding =
      s.report(container["name"] ? container["name"] : container["image"],
               fmt::format("{} listens on 127.0.0.1:{}, so {} cannot connect", engine, server->port,
                           probe.empty() ? service->title() : fmt::format("the {} of the kubelet", probe)));
  if (probe.empty()) s.require_object(finding, *service, service->name);
  finding.mark_absence();
}

void check(const Subject& s) {
  if (is_operated(s.object) || is_partial(s.object)) return;
  for (const Pod& pod : pods_of(s.object)) {
    if (has_mesh(pod)) continue;
    for (const Value* container : containers_of(pod)) check_container(s, pod, *container);
  }
}

}  // namespace
}  // namespace engine_binds_localhost

extern const Rule rule_engine_binds_localhost;
const Rule rule_engine_binds_localhost = {
    .id = "engine-binds-localhost",
    .severity = Severity::error,
    .kinds = "@pods",
    .title = "the engine listens only on localhost",
    .why =
        "Without --host, SGLang listens on 127.0.0.1. Probes of the kubelet and requests of a Service go to the "
        "address of the pod, where the connection is refused. vLLM listens on all addresses unless --host names "
        "localhost. A pod without such a probe or Service is not reported, and neither is one in a service mesh.",
    .fix = "add --host 0.0.0.0 to the command of the engine",
    .source =
        "SGLang, field host in python/sglang/srt/arg_groups/fields/serving.py; SGLang documentation, server "
        "arguments",
    .bad = R"(apiVersion: v1
kind: Pod
metadata: {name: chat, labels: {app: chat}}
spec:
  containers:
    - name: sglang
      image: lmsysorg/sglang:v0.5.3
      command: [python3, -m, sglang.launch_server, --model-path, Qwen/Qwen3-8B, --port, "8000"]
      readinessProbe: {httpGet: {path: /health, port: 8000}}
      resources: {limits: {nvidia.com/gpu: 1}}
)",
    .good = R"(apiVersion: v1
kind: Pod
metadata: {name: chat, labels: {app: chat}}
spec:
  containers:
    - name: sglang
      image: lmsysorg/sglang:v0.5.3
      command: [python3, -m, sglang.launch_server, --model-path, Qwen/Qwen3-8B, --host, 0.0.0.0, --port, "8000"]
      readinessProbe: {httpGet: {path: /health, port: 8000}}
      resources: {limits: {nvidia.com/gpu: 1}}
)",
    .check = engine_binds_localhost::check,
};

}  // namespace capstan::lint
