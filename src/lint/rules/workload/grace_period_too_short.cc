#include <fmt/format.h>

#include "lint/cold_start.h"
#include "lint/container_start.h"
#include "lint/rule.h"
#include "lint/serving.h"

namespace capstan::lint {
namespace grace_period_too_short {
namespace {

constexpr std::int64_t kMinuteS = 60;
constexpr std::int64_t kLongAnswerS = 120;
constexpr std::int64_t kShortAnswerTokens = 2048;  ///< number of tokens that any engine writes within a minute

bool answers_are_short(const EngineCommand& engine, const Value& container, std::int64_t grace) {
  const auto tokens = engine.number({"--max-model-len", "--context-length"});
  const bool is_fast = weights_gb(container).value_or(kSmallWeightsGb + 1) <= kSmallWeightsGb;
  const std::int64_t longest = is_fast && grace >= kMinuteS ? 2 * kShortAnswerTokens : kShortAnswerTokens;
  return (tokens && *tokens <= longest) || serves_small_model(engine);
}

void check(const Subject& s) {
  const Pods pods = pods_of(s.object);
  for (const auto& [pod, container] : gpu_pods_of(s.object)) {
    if (is_partial(s.object) || is_placeholder(s.object, pod)) continue;
    if (!takes_requests(s.object, pod, container, s.set)) continue;
    // In a group with its own leader template only the leader receives requests.
    if (s.object.kind == "LeaderWorkerSet" && pods.size() > 1 && pod.spec != pods[0].spec) continue;
    const Value& stated = (*pod.spec)["terminationGracePeriodSeconds"];
    const std::int64_t grace = stated.integer().value_or(30);
    const std::optional<EngineCommand> engine = engine_of(start_of(container));
    if (engine && engine->flag({"--headless"})) continue;  // the leader receives the requests
    const std::int64_t drain = engine ? engine->number({"--shutdown-timeout"}).value_or(0) : 0;
    const std::int64_t needed = pre_stop_sleep_s(container).value_or(0) + drain;
    const Value& place = stated ? stated : container["name"];
    if (drain > 0 && grace < needed) {
      s.report(place,
               fmt::format("pods are killed after {} s, but preStop and --shutdown-timeout take {} s", grace, needed))
          .set_severity(Severity::warning);
    } else if (grace < kLongAnswerS) {
      Finding& finding =
          s.report(place, fmt::format("pods are killed {} s after SIGTERM{}, but a long answer takes longer", grace,
                                      stated ? "" : " (the default)"));
      // Answer times are known only for engines. Without --shutdown-timeout vLLM ends at SIGTERM, whatever the period.
      const bool drains = engine && (engine->kind != EngineKind::vllm || drain > 0);
      if (drains && !answers_are_short(*engine, container, grace) && is_surely_scaled_down(s.object, s.set))
        finding.set_severity(Severity::warning);
      if (!stated) finding.mark_absence();
    }
  }
}

}  // namespace
}  // namespace grace_period_too_short

extern const Rule rule_grace_period_too_short;
const Rule rule_grace_period_too_short = {
    .id = "grace-period-too-short",
    .severity = Severity::info,
    .kinds = "@serving",
    .title = "pods are killed before their requests are finished",
    .why =
        "A long answer takes one or two minutes. After 30 s, the default, the pod is killed: the user gets an error "
        "and the request is computed again. The finding is a warning if an autoscaler removes replicas of a known "
        "engine, because pods then end often. For vLLM without --shutdown-timeout it is advice, because vLLM then "
        "aborts its requests at once, whatever the period is.",
    .fix =
        "set terminationGracePeriodSeconds to twice the longest answer, and at least to preStop plus "
        "--shutdown-timeout",
    .source = "vLLM, llm-d and KServe drain settings: preStop 15 s, drain 45 s, grace 60 s and more",
    .bad = R"(apiVersion: apps/v1
kind: Deployment
metadata: {name: a}
spec:
  selector: {matchLabels: {a: b}}
  template:
    spec:
      terminationGracePeriodSeconds: 30
      containers: [{name: a, image: "a:1", ports: [{containerPort: 80}], resources: {limits: {nvidia.com/gpu: 1}}}]
)",
    .good = R"(apiVersion: apps/v1
kind: Deployment
metadata: {name: a}
spec:
  selector: {matchLabels: {a: b}}
  template:
    spec:
      terminationGracePeriodSeconds: 180
      containers: [{name: a, image: "a:1", ports: [{containerPort: 80}], resources: {limits: {nvidia.com/gpu: 1}}}]
)",
    .check = grace_period_too_short::check,
};

}  // namespace capstan::lint
