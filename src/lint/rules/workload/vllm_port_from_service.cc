#include <fmt/format.h>

#include <algorithm>

#include "lint/container_start.h"
#include "lint/facts.h"
#include "lint/pods.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace vllm_port_from_service {
namespace {

bool sets_port(const Value& container) {
  return std::ranges::any_of(container["env"].children(),
                             [](const Value& variable) { return variable["name"].is("VLLM_PORT"); });
}

/// Returns true for an image of vLLM before 0.4.3, which does not read VLLM_PORT. Other images have versions of their
/// own.
bool ignores_port(std::string_view image) {
  constexpr Version kFirstThatReads = {0, 4, 3};
  const std::optional<Version> version = version_of_tag(image);
  return version && *version < kFirstThatReads && image.substr(0, image.rfind(':')).ends_with("vllm-openai");
}

/// Returns the first container that runs vLLM and takes VLLM_PORT from the Service; a missing value if none does.
const Value& affected_container(const Pod& pod) {
  if ((*pod.spec)["enableServiceLinks"].is("false")) return Value::missing();
  for (const Value* container : containers_of(pod)) {
    const std::optional<EngineCommand> engine = engine_of(start_of(*container));
    if (engine && engine->kind == manifest::EngineKind::vllm && !sets_port(*container) &&
        !ignores_port((*container)["image"].text))
      return *container;
  }
  return Value::missing();
}

void check(const Subject& s) {
  const Object* service = s.set.find("Service", "vllm", s.object);
  // Kubernetes sets no variables for a headless Service.
  if (service == nullptr || (*service)["spec"]["clusterIP"].is("None")) return;
  for (const Pod& pod : pods_of(s.object)) {
    const Value& container = affected_container(pod);
    if (!container) continue;
    Finding& finding = s.report(container["name"],
                                "Service vllm sets VLLM_PORT=tcp://... in this pod, with which vLLM does not start");
    s.require_object(finding, *service).mark_absence();
  }
}

}  // namespace
}  // namespace vllm_port_from_service

extern const Rule rule_vllm_port_from_service;
const Rule rule_vllm_port_from_service = {
    .id = "vllm-port-from-service",
    .severity = Severity::error,
    .kinds = "@pods",
    .title = "a Service named vllm sets vLLM's own variable VLLM_PORT",
    .why =
        "For each Service of the namespace Kubernetes sets variables in every pod that starts after it. For a Service "
        "named vllm one of them is VLLM_PORT, the address of the Service. vLLM reads it as its internal port and ends "
        "with \"VLLM_PORT appears to be a URI\". vLLM before 0.4.3 does not read it.",
    .fix = "set enableServiceLinks: false in the pod, or give the Service another name",
    .source = "vLLM documentation, environment variables; Kubernetes documentation, accessing Services",
    .bad = R"(apiVersion: v1
kind: Service
metadata: {name: vllm, namespace: chat}
spec: {selector: {app: vllm}, ports: [{port: 8000}]}
---
apiVersion: v1
kind: Pod
metadata: {name: server, namespace: chat, labels: {app: vllm}}
spec:
  containers:
    - {name: server, image: "vllm/vllm-openai:v0.20.0", args: [--model, m], resources: {limits: {nvidia.com/gpu: 1}}}
)",
    .good = R"(apiVersion: v1
kind: Service
metadata: {name: vllm, namespace: chat}
spec: {selector: {app: vllm}, ports: [{port: 8000}]}
---
apiVersion: v1
kind: Pod
metadata: {name: server, namespace: chat, labels: {app: vllm}}
spec:
  enableServiceLinks: false
  containers:
    - {name: server, image: "vllm/vllm-openai:v0.20.0", args: [--model, m], resources: {limits: {nvidia.com/gpu: 1}}}
)",
    .check = vllm_port_from_service::check,
};

}  // namespace capstan::lint
