#include <fmt/format.h>

#include <algorithm>

#include "lint/container_start.h"
#include "lint/rule.h"
#include "lint/serving.h"

namespace capstan::lint {
namespace liveness_kills_busy {
namespace {

constexpr std::int64_t kMaxSilenceS = 30;            ///< time without an answer that a probe should tolerate, seconds
constexpr std::int64_t kShortSilenceS = 10;          ///< time without an answer that one long prompt may cause, seconds
constexpr std::int64_t kSwitchedOffDelayS = 86'400;  ///< delay of a probe that is meant to be switched off, seconds
constexpr std::int64_t kTimeoutS = 1;                ///< timeout that a busy engine often exceeds, seconds
constexpr std::int64_t kSometimesExceededS = 5;      ///< timeout that a busy engine sometimes exceeds, seconds

/// Returns true if a single late answer, or a few late answers, make the probe fail.
bool fails_early(std::int64_t timeout_s, std::int64_t failures, std::int64_t silence_s) {
  if (silence_s > kMaxSilenceS) return false;
  return timeout_s <= kTimeoutS || (failures <= 1 && timeout_s <= kSometimesExceededS);
}

/// Returns true if one late answer, or the answers during one long prompt, make the probe fail.
bool surely_fails_early(std::int64_t timeout_s, std::int64_t failures, std::int64_t silence_s) {
  return timeout_s <= kTimeoutS && (failures <= 1 || silence_s <= kShortSilenceS);
}

/// Returns true if the probe asks for tokens, which wait in the queue behind other requests.
bool generates(const Value& probe) {
  // SGLang's /health_generate is not in the list, because a token of any request satisfies it.
  const auto requests_tokens = [](std::string_view text) {
    for (const std::string_view path : {"/v1/completions", "/v1/chat/completions", "/generate"}) {
      if (text.find(path) != text.npos) return true;
    }
    return false;
  };
  const Value& command = at(probe, "exec.command");
  return requests_tokens(at(probe, "httpGet.path").text) ||
         std::ranges::any_of(command.children(), [&](const Value& word) { return requests_tokens(word.text); });
}

/// Returns true if the engine's steps are so short that it rarely answers late.
bool serves_quickly(const Value& container) {
  const auto engine = engine_of(start_of(container));
  return engine && serves_small_model(*engine);
}

/// Returns true for vLLM and SGLang, which answer probes in the process that also receives requests. Triton and TGI
/// answer them in a separate thread.
bool answers_late(const Value& container) {
  if (const auto engine = engine_of(start_of(container))) {
    return engine->kind == EngineKind::vllm || engine->kind == EngineKind::sglang;
  }
  const std::string_view image = container["image"].text;
  if (image.find("tritonserver") != image.npos) return false;
  return image.find("vllm") != image.npos || image.find("sglang") != image.npos;
}

void check(const Subject& s) {
  for (const auto& [pod, container] : gpu_pods_of(s.object)) {
    const Value& probe = container["livenessProbe"];
    if (!probe.is_mapping() || is_placeholder(s.object, pod)) continue;
    if (probe["initialDelaySeconds"].integer().value_or(0) >= kSwitchedOffDelayS) continue;
    const std::int64_t timeout = probe["timeoutSeconds"].integer().value_or(1);
    const std::int64_t failures = probe["failureThreshold"].integer().value_or(3);
    const std::int64_t silence = failures * probe["periodSeconds"].integer().value_or(10);
    if (generates(probe)) {
      s.report_key(probe,
                   fmt::format("the liveness probe asks for tokens, which wait behind all other requests, so {} s of "
                               "load kill the engine",
                               silence));
    } else if (fails_early(timeout, failures, silence) && at(probe, "httpGet.path") && answers_late(container)) {
      Finding& finding = s.report_key(
          probe, fmt::format("{} answers slower than {} s within {} s kill the engine and its requests, but a busy "
                             "engine is sometimes slower",
                             failures, timeout, silence));
      if (serves_quickly(container) || !surely_fails_early(timeout, failures, silence))
        finding.set_severity(Severity::info);
    }
  }
}

}  // namespace
}  // namespace liveness_kills_busy

extern const Rule rule_liveness_kills_busy;
const Rule rule_liveness_kills_busy = {
    .id = "liveness-kills-busy",
    .severity = Severity::warning,
    .kinds = "@gpu",
    .title = "the liveness probe kills an engine that is busy",
    .why =
        "Under load an engine answers its health page late, and a request for tokens waits in the queue. The kubelet "
        "then kills the replica and its requests. The other replicas get its load and are killed next. The finding is "
        "advice if several answers within more than 10 s must be late, as with the defaults of Kubernetes.",
    .fix = "set timeoutSeconds to 5 or more and failureThreshold times periodSeconds to 60 s or more, on /health",
    .source = "vLLM documentation, Kubernetes probes; Kubernetes documentation",
    .bad = R"(apiVersion: apps/v1
kind: Deployment
metadata: {name: a}
spec:
  selector: {matchLabels: {a: b}}
  template:
    spec:
      containers:
        - name: vllm
          image: vllm/vllm-openai:v0.20.0
          args: [--model, m]
          resources: {limits: {nvidia.com/gpu: 1}}
          startupProbe: {httpGet: {path: /health, port: 8000}, periodSeconds: 10, failureThreshold: 90}
          livenessProbe: {httpGet: {path: /health, port: 8000}, periodSeconds: 3}
)",
    .good = R"(apiVersion: apps/v1
kind: Deployment
metadata: {name: a}
spec:
  selector: {matchLabels: {a: b}}
  template:
    spec:
      containers:
        - name: vllm
          image: vllm/vllm-openai:v0.20.0
          args: [--model, m]
          resources: {limits: {nvidia.com/gpu: 1}}
          startupProbe: {httpGet: {path: /health, port: 8000}, periodSeconds: 10, failureThreshold: 90}
          livenessProbe: {httpGet: {path: /health, port: 8000}, timeoutSeconds: 5, failureThreshold: 6}
)",
    .check = liveness_kills_busy::check,
};

}  // namespace capstan::lint
