#include "lint/container_start.h"
#include "lint/facts.h"
#include "lint/rule.h"
#include "lint/serving.h"

namespace capstan::lint {
namespace vllm_no_drain_flag {
namespace {

/// Returns true for vLLM's own image. The version in other images is unknown.
bool is_official(std::string_view image) { return image.find("vllm/vllm-openai") != image.npos; }

/// Returns true if the image's tag shows that its vLLM has the flag: a version that is new enough, or a tag for the
/// newest version. Also returns true if no image is stated. Older versions refuse the flag.
bool has_flag(std::string_view image) {
  if (const auto minor = vllm_minor_of(image)) return *minor >= minor_of(since_version("vllm-shutdown-timeout"));
  if (image.find('@') != image.npos) return false;
  const std::string_view name = image.substr(image.rfind('/') + 1);
  return image.empty() || (is_official(image) &&
                           (name.find(':') == name.npos || name.ends_with(":latest") || name.ends_with(":nightly")));
}

void check(const Subject& s) {
  for (const auto& [pod, container] : gpu_pods_of(s.object)) {
    if (!has_flag(container["image"].text) || is_placeholder(s.object, pod)) continue;
    const std::optional<EngineCommand> engine = engine_of(start_of(container));
    const bool is_named_vllm = container["name"].is("vllm") && !container["args"] && !container["command"];
    if (!engine && !is_named_vllm) continue;
    if (engine && (engine->kind != EngineKind::vllm || engine->flag({"--shutdown-timeout", "--headless"}))) continue;
    Finding& finding = s.report(container["name"], "without --shutdown-timeout vLLM aborts its requests at SIGTERM");
    // Without a Service the only client may be another container of the pod, which ends at the same time.
    const bool has_other_clients = (*pod.spec)["containers"].count == 1 || service_of(s.object, pod, s.set) != nullptr;
    // A preStop hook may wait until the requests have ended.
    const bool is_certain = engine && is_official(container["image"].text) && has_other_clients &&
                            vllm_minor_of(container["image"].text) && !at(container, "lifecycle.preStop");
    if (is_certain && is_surely_scaled_down(s.object, s.set)) finding.set_severity(Severity::warning).mark_absence();
  }
}

}  // namespace
}  // namespace vllm_no_drain_flag

extern const Rule rule_vllm_no_drain_flag;
const Rule rule_vllm_no_drain_flag = {
    .id = "vllm-no-drain-flag",
    .severity = Severity::info,
    .kinds = "@serving",
    .title = "vLLM drops its requests at SIGTERM",
    .why =
        "At SIGTERM vLLM aborts all running requests at once, whatever terminationGracePeriodSeconds is, unless "
        "--shutdown-timeout is set. Every scale-down then cuts off answers. The finding is a warning if an autoscaler "
        "removes replicas, the image's version has the flag, and no preStop hook waits for the requests.",
    .fix = "set --shutdown-timeout to the grace period, less the preStop sleep, less 5 s",
    .source = "vllm-project/vllm #34730, #36666",
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
          args: [--model, m, --shutdown-timeout, "150"]
          resources: {limits: {nvidia.com/gpu: 1}}
)",
    .check = vllm_no_drain_flag::check,
};

}  // namespace capstan::lint
