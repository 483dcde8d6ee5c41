#include <fmt/format.h>

#include "lint/cold_start.h"
#include "lint/container_start.h"
#include "lint/rule.h"
#include "lint/serving.h"

namespace capstan::lint {
namespace missing_readiness_probe {
namespace {

/// Returns true if a new pod of the workload never takes the place of one that serves: the single replica is deleted
/// before the next one starts, and no autoscaler adds another.
bool replaces_no_pod(const Subject& s) {
  const bool is_single = s.object["spec"]["replicas"].integer().value_or(1) <= 1;
  const bool deletes_first = s.object.kind == "StatefulSet" || at(s.object, "spec.strategy.type").is("Recreate");
  return is_single && deletes_first && !is_surely_scaled(s.object, s.set);
}

/// Returns true if requests certainly fail while the container starts: it runs an engine of language models, which
/// needs at least 20 s, and its model is not known to be tiny. Other servers may load a model within a second, or only
/// at the first request.
bool fails_at_start(const Value& container) {
  return runs_language_engine(container) && weights_gb(container).value_or(kSmallWeightsGb) > kTinyWeightsGb;
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
    if (service == nullptr || !fails_at_start(container) || replaces_no_pod(s)) continue;
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
        "The server gets requests from its first second on, minutes before the model is loaded. These requests fail. A "
        "rollout deletes the old replica while the new one still loads. The finding is a warning if the input has the "
        "Service and the container runs an engine of language models, which starts slowly with any but a tiny model.",
    .fix = "add a readinessProbe on the engine's /health",
    .source = "Kubernetes documentation, readiness",
    .bad = R"(apiVersion: apps/v1
kind: Deployment
metadata: {name: a}
spec:
  selector: {matchLabels: {a: b}}
  template:
    metadata: {labels: {a: b}}
    spec: {containers: [{name: a, image: "vllm/vllm-openai:v0.20.0", resources: {limits: {nvidia.com/gpu: 1}}}]}
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
          image: "vllm/vllm-openai:v0.20.0"
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
