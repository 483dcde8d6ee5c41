#include <fmt/format.h>

#include <algorithm>

#include "lint/cold_start.h"
#include "lint/pods.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace missing_startup_probe {
namespace {

void check(const Subject& s) {
  for (const auto& [pod, container] : gpu_pods_of(s.object)) {
    const Value& probe = container["livenessProbe"];
    if (!probe || container["startupProbe"]) continue;
    const std::int64_t more = std::max<std::int64_t>(probe["failureThreshold"].integer().value_or(3) - 1, 0);
    const std::int64_t budget = probe["initialDelaySeconds"].integer().value_or(0) +
                                more * probe["periodSeconds"].integer().value_or(10) +
                                probe["timeoutSeconds"].integer().value_or(1);
    if (budget >= kColdStartS) continue;
    s.report_key(probe, fmt::format("the container is killed {} s after its start unless it answers, and there is no "
                                    "startupProbe: loading a model takes longer",
                                    budget));
  }
}

}  // namespace
}  // namespace missing_startup_probe

extern const Rule rule_missing_startup_probe;
const Rule rule_missing_startup_probe = {
    .id = "missing-startup-probe",
    .severity = Severity::warning,
    .kinds = "@serving",
    .title = "the liveness probe gives up before the model is loaded",
    .why =
        "Without a startup probe the liveness probe counts from the start: the kubelet kills the engine in the middle "
        "of loading its weights, again and again.",
    .fix = "a startupProbe with failureThreshold times periodSeconds of at least 600 s",
    .source = "Kubernetes documentation, startup probes; cold starts of 2 to 8 minutes",
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
          readinessProbe: {httpGet: {path: /ready, port: 80}}
          livenessProbe: {httpGet: {path: /health, port: 80}, initialDelaySeconds: 30, periodSeconds: 10}
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
          livenessProbe: {httpGet: {path: /health, port: 80}, periodSeconds: 10}
          startupProbe: {httpGet: {path: /health, port: 80}, periodSeconds: 10, failureThreshold: 90}
)",
    .check = missing_startup_probe::check,
};

}  // namespace capstan::lint
