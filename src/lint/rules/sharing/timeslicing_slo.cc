#include <fmt/format.h>

#include <charconv>

#include "lint/container_start.h"
#include "lint/pods.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace timeslicing_slo {
namespace {

/// Returns true if several pods of the object run at the same time.
bool has_replicas(const Subject& s) {
  return s.object["spec"]["replicas"].integer().value_or(1) > 1 || is_surely_scaled(s.object, s.set);
}

void check(const Subject& s) {
  for (const Pod& pod : pods_of(s.object)) {
    for (const Value* container : all_containers_of(pod)) {
      const Value& shared = at(*container, "resources.limits")["nvidia.com/gpu.shared"];
      const std::optional<EngineCommand> engine = engine_of(start_of(*container));
      if (!shared || !engine || engine->kind != EngineKind::vllm) continue;
      const auto word = engine->flag({"--gpu-memory-utilization"});
      double share = 0.9;
      if (word) std::from_chars(word->text.data(), word->text.data() + word->text.size(), share);
      if (share <= 0.5) continue;
      Finding& finding =
          s.report_span(word ? span_of(*s.object.file, *container, *word) : shared.span,
                        fmt::format("the engine takes {:.0f} % of the memory of a shared GPU", share * 100));
      // Other programs that share the GPU may need little memory, but two replicas of the engine do not fit.
      if (!has_replicas(s)) finding.set_severity(Severity::info);
    }
  }
}

}  // namespace
}  // namespace timeslicing_slo

extern const Rule rule_timeslicing_slo;
const Rule rule_timeslicing_slo = {
    .id = "timeslicing-slo",
    .severity = Severity::warning,
    .kinds = "@gpu",
    .title = "an engine takes most of the memory of a shared GPU",
    .why =
        "Time-slicing does not divide memory. Two engines that each reserve 90 % of it do not fit, and the second one "
        "makes both fail. For a single replica the finding is advice.",
    .fix = "set --gpu-memory-utilization below 1 / replicas, or use MIG",
    .source = "NVIDIA k8s-device-plugin README; vLLM documentation",
    .bad = R"(apiVersion: apps/v1
kind: Deployment
metadata: {name: a}
spec:
  replicas: 2
  selector: {matchLabels: {a: b}}
  template:
    spec:
      containers:
        - name: a
          image: "vllm/vllm-openai:v0.11.0"
          args: [--gpu-memory-utilization, "0.9"]
          resources: {limits: {nvidia.com/gpu.shared: 1}}
)",
    .good = R"(apiVersion: apps/v1
kind: Deployment
metadata: {name: a}
spec:
  replicas: 2
  selector: {matchLabels: {a: b}}
  template:
    spec:
      containers:
        - name: a
          image: "vllm/vllm-openai:v0.11.0"
          args: [--gpu-memory-utilization, "0.4"]
          resources: {limits: {nvidia.com/gpu.shared: 1}}
)",
    .check = timeslicing_slo::check,
};

}  // namespace capstan::lint
