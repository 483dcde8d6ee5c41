#include <fmt/format.h>

#include "lint/rule.h"
#include "lint/serving.h"

namespace capstan::lint {
namespace missing_readiness_probe {
namespace {

/// Returns true for Ollama, which is ready without a model and loads one at the first request.
bool loads_on_demand(const Value& container) {
  return container["image"].text.find("ollama") != std::string_view::npos;
}

void check(const Subject& s) {
  for (const auto& [pod, container] : gpu_pods_of(s.object)) {
    if (container["readinessProbe"] || is_partial(s.object) || is_placeholder(s.object, pod)) continue;
    const Object* service = service_of(s.object, pod, s.set);
    if (!takes_requests(s.object, pod, container, s.set)) continue;
    Finding& finding =
        s.report(container["name"],
                 fmt::format("the container has no readinessProbe: {}",
                             service == nullptr ? "requests may arrive before the model is loaded"
                                                : service->title() + " sends requests before the model is loaded"));
    if (service == nullptr || loads_on_demand(container) || !serves_model(s.object)) continue;
    s.require_object(finding.set_severity(Severity::warning), *service, service->name).mark_absence();
  }
}

}  // namespace
}  // namespace missing_readiness_probe

extern const Rule rule_missing_readiness_probe;
const Rule rule_missing_readiness_probe = {
    .id = "missing-readiness-probe",
    .severity = Severity::info,
    .kinds = "Deployment StatefulSet",
    .title = "a GPU server has no readiness probe",
    .why =
        "The server gets requests from its first second on, minutes before the model is loaded. These requests fail.",
    .fix = "add a readinessProbe on the engine's /health",
    .source = "Kubernetes documentation, readiness",
    .bad = R"(apiVersion: apps/v1
kind: Deployment
metadata: {name: a}
spec:
  selector: {matchLabels: {a: b}}
  template:
    metadata: {labels: {a: b}}
    spec: {containers: [{name: a, image: "a:1", resources: {limits: {nvidia.com/gpu: 1}}}]}
---
apiVersion: v1
kind: Service
metadata: {name: a}
spec: {selector: {a: b}}
)",
    .good = R"(apiVersion: apps/v1
kind: Deployment
metadata: {name: a}
spec:
  selector: {matchLabels: {a: b}}
  template:
    metadata: {labels: {a: b}}
    spec:
      containers:
        - name: a
          image: "a:1"
          resources: {limits: {nvidia.com/gpu: 1}}
          readinessProbe: {httpGet: {path: /health, port: 8000}}
---
apiVersion: v1
kind: Service
metadata: {name: a}
spec: {selector: {a: b}}
)",
    .check = missing_readiness_probe::check,
};

}  // namespace capstan::lint
