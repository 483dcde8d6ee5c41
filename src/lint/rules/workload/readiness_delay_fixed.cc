#include <fmt/format.h>

#include "lint/container_start.h"
#include "lint/rule.h"
#include "lint/serving.h"

namespace capstan::lint {
namespace readiness_delay_fixed {
namespace {

constexpr std::int64_t kModelLoadS = 120;     ///< minimum time to load a model, seconds
constexpr double kManyWeightsGb = 40;         ///< weights that a volume in the network delivers only in minutes, GB
constexpr std::int64_t kLongDownloadS = 180;  ///< upper bound of most starts with a download, seconds

void check(const Subject& s) {
  for (const auto& [pod, container] : gpu_pods_of(s.object)) {
    const Value& delay = at(container, "readinessProbe.initialDelaySeconds");
    if (delay.integer().value_or(0) < kModelLoadS || is_placeholder(s.object, pod)) continue;
    Finding& finding = s.report(
        delay,
        fmt::format("every replica is unready for at least {} s, even if its model is loaded earlier", delay.text));
    const bool loads_quickly = has_lasting_volume(s.object, pod) && weights_gb(container).value_or(0) <= kManyWeightsGb;
    if (delay.integer().value_or(0) <= kLongDownloadS && !loads_quickly) finding.set_severity(Severity::info);
  }
}

}  // namespace
}  // namespace readiness_delay_fixed

extern const Rule rule_readiness_delay_fixed;
const Rule rule_readiness_delay_fixed = {
    .id = "readiness-delay-fixed",
    .severity = Severity::warning,
    .kinds = "@gpu",
    .title = "the readiness probe waits for a fixed time",
    .why =
        "No probe runs before initialDelaySeconds. With a warm cache the model is loaded much earlier, so requests "
        "wait while the GPU already costs money. After a restart of the container the delay applies again.",
    .fix =
        "delete initialDelaySeconds of the readiness probe; add a startupProbe whose failureThreshold times "
        "periodSeconds covers the longest start",
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
          readinessProbe: {httpGet: {path: /health, port: 8000}, initialDelaySeconds: 300}
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
          startupProbe: {httpGet: {path: /health, port: 8000}, periodSeconds: 5, failureThreshold: 120}
          readinessProbe: {httpGet: {path: /health, port: 8000}, periodSeconds: 5}
)",
    .check = readiness_delay_fixed::check,
};

}  // namespace capstan::lint
