#include <fmt/format.h>

#include "lint/cold_start.h"
#include "lint/container_start.h"
#include "lint/rule.h"
#include "lint/serving.h"

namespace capstan::lint {
namespace grace_period_too_short {
namespace {

constexpr std::int64_t kLongAnswerS = 120;

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
    if (drain > 0 ? grace < needed : needed > 0 && grace <= needed) {
      const std::string_view parts = drain == 0        ? "preStop takes"
                                     : drain == needed ? "--shutdown-timeout is"
                                                       : "preStop and --shutdown-timeout take";
      s.report(place, fmt::format("pods are killed after {} s{}, but {} {} s", grace, stated ? "" : " (the default)",
                                  parts, needed))
          .set_severity(Severity::warning)
          .mark_absence();
    } else if (grace < kLongAnswerS) {
      Finding& finding =
          s.report(place, fmt::format("pods are killed {} s after SIGTERM{}, but a long answer takes longer", grace,
                                      stated ? "" : " (the default)"));
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
        "and the request is computed again. How long an answer takes depends on the requests, so the finding is "
        "advice. It is a warning if the period is shorter than the sleep of the preStop hook and --shutdown-timeout.",
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
