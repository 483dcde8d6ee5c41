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

/// Returns true if a container that the kubelet restarts finds the files of its interrupted download.
bool keeps_downloads(const Object& object, const Pod& pod) {
  const auto is_on_disk = [](const Value& volume) {
    return volume.has("emptyDir") && !volume["emptyDir"]["medium"].is("Memory");
  };
  return has_lasting_volume(object, pod) || std::ranges::any_of((*pod.spec)["volumes"].children(), is_on_disk);
}

/// Returns true if the engine certainly needs longer than the budget. The load time is known only for engines of
/// language models. A download that a restart interrupts continues afterwards if a volume keeps the files.
bool certainly_exceeds(const Object& object, const Pod& pod, const Value& container, std::int64_t budget) {
  if (!runs_language_engine(container)) return false;
  const std::optional<double> weights = weights_gb(container);
  if (weights && *weights <= kTinyWeightsGb && budget >= kTinyStartS) return false;
  const bool is_small = weights && *weights <= kSmallWeightsGb;
  return budget < kSmallStartS || !(is_small || keeps_downloads(object, pod));
}

void check(const Subject& s) {
  for (const auto& [pod, container] : gpu_pods_of(s.object)) {
    const Value& probe = container["livenessProbe"];
    if (!probe || container["startupProbe"] || is_placeholder(s.object, pod)) continue;
    const std::int64_t retries = std::max<std::int64_t>(probe["failureThreshold"].integer().value_or(3) - 1, 0);
    const std::int64_t budget = probe["initialDelaySeconds"].integer().value_or(0) +
                                retries * probe["periodSeconds"].integer().value_or(10) +
                                probe["timeoutSeconds"].integer().value_or(1);
    const bool is_on_disk = has_model_on_disk(pod);
    if (budget >= (is_on_disk ? kLoadS : kColdStartS)) continue;
    Finding& finding = s.report_key(
        probe, fmt::format("the container has no startupProbe and is killed {} s after its start unless it answers, "
                           "but a model takes longer to load",
                           budget));
    if (is_on_disk || !certainly_exceeds(s.object, pod, container, budget)) finding.set_severity(Severity::info);
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
        "the weights, again and again. The finding is advice if an init container provides the model, for small "
        "models, "
        "and for servers that are no known engine of language models.",
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
          args: [--model, m]
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
          image: "vllm/vllm-openai:v0.20.0"
          args: [--model, m]
          resources: {limits: {nvidia.com/gpu: 1}}
          readinessProbe: {httpGet: {path: /ready, port: 80}}
          livenessProbe: {httpGet: {path: /health, port: 80}, periodSeconds: 10}
          startupProbe: {httpGet: {path: /health, port: 80}, periodSeconds: 10, failureThreshold: 90}
)",
    .check = missing_startup_probe::check,
};

}  // namespace capstan::lint
