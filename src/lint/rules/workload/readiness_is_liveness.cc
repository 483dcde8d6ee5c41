#include <fmt/format.h>

#include "lint/pods.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace readiness_is_liveness {
namespace {

/// Returns the seconds without an answer after which a probe has failed.
std::int64_t silence_limit_s(const Value& probe) {
  return probe["failureThreshold"].integer().value_or(3) * probe["periodSeconds"].integer().value_or(10);
}

void check(const Subject& s) {
  for (const auto& [pod, container] : gpu_pods_of(s.object)) {
    const Value& ready = at(container, "readinessProbe.httpGet.path");
    const Value& live = at(container, "livenessProbe.httpGet.path");
    if (!ready || !live.is(ready.text)) continue;
    if (silence_limit_s(container["livenessProbe"]) > silence_limit_s(container["readinessProbe"])) continue;
    s.report(live,
             fmt::format("liveness probes {} like readiness, so an engine that is only busy is killed", live.text));
  }
}

}  // namespace
}  // namespace readiness_is_liveness

extern const Rule rule_readiness_is_liveness;
const Rule rule_readiness_is_liveness = {
    .id = "readiness-is-liveness",
    .severity = Severity::info,
    .kinds = "Deployment StatefulSet",
    .title = "readiness and liveness use the same check",
    .why =
        "An engine that is busy for a moment should get no new requests, but it should not be killed with its "
        "requests.",
    .fix = "use a simpler check for liveness, or let it fail later",
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
