#include <fmt/format.h>

#include <algorithm>

#include "lint/cold_start.h"
#include "lint/container_start.h"
#include "lint/pods.h"
#include "lint/rule.h"
#include "lint/serving.h"

namespace capstan::lint {
namespace readiness_delay_fixed {
namespace {

constexpr std::int64_t kShortestReportedDelayS = 120;  ///< shortest delay that is reported, seconds
/// Returns the seconds that the startup probe gives the container; 0 without a startup probe. Readiness probes begin
/// only after the startup probe has succeeded, but their delay counts from the start of the container. So the delay has
/// no effect if the start takes at least as long.
std::int64_t startup_budget_s(const Value& container) {
  const Value& probe = container["startupProbe"];
  if (!probe) return 0;
  constexpr std::int64_t kMaxS = 1'000'000;
  const auto number = [&](std::string_view key, std::int64_t fallback) {
    return std::clamp<std::int64_t>(probe[key].integer().value_or(fallback), 0, kMaxS);
  };
  return number("initialDelaySeconds", 0) + number("periodSeconds", 10) * number("failureThreshold", 3);
}

void check(const Subject& s) {
  for (const auto& [pod, container] : gpu_pods_of(s.object)) {
    const Value& delay = at(container, "readinessProbe.initialDelaySeconds");
    if (delay.integer().value_or(0) < kShortestReportedDelayS || is_placeholder(s.object, pod)) continue;
    Finding& finding = s.report(
        delay,
        fmt::format("every replica is unready for at least {} s, even if its model is loaded earlier", delay.text));
    const std::optional<std::int64_t> longest = longest_start_s(container);
    const bool is_too_long = longest && *delay.integer() > *longest;
    if (!is_too_long || !is_surely_scaled(s.object, s.set) || startup_budget_s(container) >= *delay.integer())
      finding.set_severity(Severity::info);
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
        "wait while the GPU already costs money. After a restart of the container the delay applies again. The finding "
        "is a warning if an autoscaler adds replicas and the delay is longer than a download of the model at 100 MB/s "
        "and its load. The size comes from the model's name.",
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
          image: "vllm/vllm-openai:v0.20.0"
          args: [--model, Qwen/Qwen2.5-7B-Instruct]
          resources: {limits: {nvidia.com/gpu: 1}}
          readinessProbe: {httpGet: {path: /health, port: 8000}, initialDelaySeconds: 300}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: a}
spec: {scaleTargetRef: {kind: Deployment, name: a}, maxReplicas: 4}
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
          image: "vllm/vllm-openai:v0.20.0"
          args: [--model, Qwen/Qwen2.5-7B-Instruct]
          resources: {limits: {nvidia.com/gpu: 1}}
          startupProbe: {httpGet: {path: /health, port: 8000}, periodSeconds: 5, failureThreshold: 120}
          readinessProbe: {httpGet: {path: /health, port: 8000}, periodSeconds: 5}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: a}
spec: {scaleTargetRef: {kind: Deployment, name: a}, maxReplicas: 4}
)",
    .check = readiness_delay_fixed::check,
};

}  // namespace capstan::lint
