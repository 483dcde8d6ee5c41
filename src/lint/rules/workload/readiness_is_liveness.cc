#include <fmt/format.h>

#include "lint/pods.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace readiness_is_liveness {
namespace {

/// Returns the seconds of silence after which a probe has failed.
std::int64_t patience_s(const Value& probe) {
  return probe["failureThreshold"].integer().value_or(3) * probe["periodSeconds"].integer().value_or(10);
}

void check(const Subject& s) {
  for (const auto& [pod, container] : gpu_pods_of(s.object)) {
    const Value& ready = at(container, "readinessProbe.httpGet.path");
    const Value& live = at(container, "livenessProbe.httpGet.path");
    if (!ready || !live.is(ready.text)) continue;
    if (patience_s(container["livenessProbe"]) > patience_s(container["readinessProbe"])) continue;
    s.report(live, fmt::format("liveness asks {} like readiness: what shall only be spared is killed", live.text));
  }
}

}  // namespace
}  // namespace readiness_is_liveness

extern const Rule rule_readiness_is_liveness;
const Rule rule_readiness_is_liveness = {
    .id = "readiness-is-liveness",
    .severity = Severity::info,
    .kinds = "Deployment StatefulSet",
    .title = "readiness and liveness ask the same",
    .why = "An engine that is busy for a moment shall get no new requests, and not be killed with those that it has.",
    .fix = "let liveness ask for less, or fail later",
    .source = "Kubernetes documentation, probes",
    .bad = R"(apiVersion: apps/v1
kind: Deployment
metadata: {name: a}
spec:
  selector: {matchLabels: {a: b}}
  template:
    spec:
      containers:
        - name: a
          image: "a:1"
          resources: {limits: {nvidia.com/gpu: 1}}
          readinessProbe: {httpGet: {path: /health, port: 80}}
          livenessProbe: {httpGet: {path: /health, port: 80}, timeoutSeconds: 10}
)",
    .good = R"(apiVersion: apps/v1
kind: Deployment
metadata: {name: a}
spec:
  selector: {matchLabels: {a: b}}
  template:
    spec:
      containers:
        - name: a
          image: "a:1"
          resources: {limits: {nvidia.com/gpu: 1}}
          readinessProbe: {httpGet: {path: /ready, port: 80}}
          livenessProbe: {httpGet: {path: /live, port: 80}, periodSeconds: 60, failureThreshold: 10}
)",
    .check = readiness_is_liveness::check,
};

}  // namespace capstan::lint
