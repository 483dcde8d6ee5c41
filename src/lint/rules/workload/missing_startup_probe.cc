#include <fmt/format.h>

#include <algorithm>

#include "lint/cold_start.h"
#include "lint/container_start.h"
#include "lint/rule.h"
#include "lint/serving.h"

namespace capstan::lint {
namespace missing_startup_probe {
namespace {

/// Returns true if an init container provides the model, so that the engine only reads it from a disk.
bool has_model_on_disk(const Pod& pod) {
  return std::ranges::any_of(init_containers_of(pod),
                             [](const Value* container) { return brings_a_model(*container); });
}

/// Returns the seconds after which most starts of the container are over.
std::int64_t usual_start_s(const Value& container, bool is_on_disk, std::int64_t shortest) {
  const std::optional<double> weights = weights_gb(container);
  std::int64_t usual = is_on_disk ? kLoadS : kColdStartS;
  if (weights && *weights <= kSmallWeightsGb) usual = std::min(usual, kSmallStartS);
  if (weights && *weights <= kTinyWeightsGb) usual = std::min(usual, kTinyStartS);
  return std::max(usual, 2 * shortest);
}

void check(const Subject& s) {
  for (const auto& [pod, container] : gpu_pods_of(s.object)) {
    const Value& probe = container["livenessProbe"];
    if (!probe || container["startupProbe"] || is_placeholder(s.object, pod)) continue;
    const std::int64_t retries = std::max<std::int64_t>(probe["failureThreshold"].integer().value_or(3) - 1, 0);
    const std::int64_t budget = probe["initialDelaySeconds"].integer().value_or(0) +
                                retries * probe["periodSeconds"].integer().value_or(10) +
                                probe["timeoutSeconds"].integer().value_or(1);
    const std::int64_t shortest = shortest_start_s(s.object, pod, container).value_or(0);
    if (budget >= usual_start_s(container, has_model_on_disk(pod), shortest)) continue;
    const bool is_certain = budget < shortest;
    Finding& finding = s.report_key(
        probe,
        is_certain
            ? fmt::format("the container has no startupProbe and is killed {} s after its start unless it answers, but "
                          "this model needs at least {} s to load",
                          budget, shortest)
            : fmt::format("the container has no startupProbe and is killed {} s after its start unless it answers, but "
                          "a model may take longer to load",
                          budget));
    if (!is_certain) finding.set_severity(Severity::info);
    finding.mark_absence();
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
        "Without a startup probe the liveness probe counts from the start. The kubelet kills the engine while it loads "
        "the weights, again and again. The finding is a warning if the shortest possible start is longer: 20 s for any "
        "engine of language models, and more for a model whose name states its size, with 1 GB/s for a download and "
        "2.5 GB/s for reading. Otherwise it is advice.",
    .fix = "add a startupProbe with failureThreshold times periodSeconds of at least 600 s",
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
          image: "vllm/vllm-openai:v0.20.0"
          args: [--model, meta-llama/Llama-3.3-70B-Instruct]
          resources: {limits: {nvidia.com/gpu: 1}}
          readinessProbe: {httpGet: {path: /ready, port: 80}}
          livenessProbe: {httpGet: {path: /health, port: 80}, initialDelaySeconds: 60, periodSeconds: 10}
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
          args: [--model, meta-llama/Llama-3.3-70B-Instruct]
          resources: {limits: {nvidia.com/gpu: 1}}
          readinessProbe: {httpGet: {path: /ready, port: 80}}
          livenessProbe: {httpGet: {path: /health, port: 80}, periodSeconds: 10}
          startupProbe: {httpGet: {path: /health, port: 80}, periodSeconds: 10, failureThreshold: 90}
)",
    .check = missing_startup_probe::check,
};

}  // namespace capstan::lint
