#include <fmt/format.h>

#include "lint/container_start.h"
#include "lint/rule.h"
#include "lint/serving.h"

namespace capstan::lint {
namespace grace_period_too_short {
namespace {

constexpr std::int64_t kLongAnswerS = 120;
constexpr std::int64_t kShortAnswerTokens = 2048;  ///< which any engine writes within a minute

bool answers_are_short(const EngineCommand& engine) {
  const auto tokens = engine.number({"--max-model-len", "--context-length"});
  return (tokens && *tokens <= kShortAnswerTokens) || serves_small_model(engine);
}

void check(const Subject& s) {
  const Pods pods = pods_of(s.object);
  for (const auto& [pod, container] : gpu_pods_of(s.object)) {
    if (is_partial(s.object) || is_placeholder(s.object, pod)) continue;
    if (!takes_requests(s.object, pod, container, s.set)) continue;
    // Of a group with a leader of its own only the leader has requests.
    if (s.object.kind == "LeaderWorkerSet" && pods.size() > 1 && pod.spec != pods[0].spec) continue;
    const Value& stated = (*pod.spec)["terminationGracePeriodSeconds"];
    const std::int64_t grace = stated.integer().value_or(30);
    const std::optional<EngineCommand> engine = engine_of(start_of(container));
    if (engine && engine->flag({"--headless"})) continue;  // the leader has the requests
    const std::int64_t drain = engine ? engine->number({"--shutdown-timeout"}).value_or(0) : 0;
    const std::int64_t needed = pre_stop_sleep_s(container).value_or(0) + drain;
    const Value& where = stated ? stated : container["name"];
    if (drain > 0 && grace < needed) {
      s.report(where, fmt::format("killed after {} s, while preStop and --shutdown-timeout take {} s", grace, needed))
          .as(Severity::warning);
    } else if (grace < kLongAnswerS) {
      Finding& finding =
          s.report(where, fmt::format("killed {} s after they are asked to end{}: a long answer takes longer", grace,
                                      stated ? "" : ", the default"));
      // How long other servers answer is not known.
      if (engine && !answers_are_short(*engine) && is_surely_scaled(s.object, s.set)) finding.as(Severity::warning);
      if (!stated) finding.of_absence();
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
    .title = "pods are killed before their requests are done",
    .why =
        "A long answer runs for one or two minutes. What is cut at 30 s, the default, is an error for its user and "
        "work done twice. It is a warning where something scales the replicas of a known engine, so that they end all "
        "the time.",
    .fix = "terminationGracePeriodSeconds of twice the longest answer, at least preStop plus --shutdown-timeout",
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
