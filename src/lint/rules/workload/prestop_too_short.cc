#include <fmt/format.h>

#include "lint/pods.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace prestop_too_short {
namespace {

void check(const Subject& s) {
  for (const Pod& pod : pods_of(s.object)) {
    for (const Value* container : containers_of(pod)) {
      const auto seconds = pre_stop_sleep_s(*container);
      if (!seconds || *seconds >= 10) continue;
      s.report_key(at(*container, "lifecycle.preStop"),
                   fmt::format("preStop sleeps {} s, but the endpoints drop the pod only after 10 to 15 s", *seconds));
    }
  }
}

}  // namespace
}  // namespace prestop_too_short

extern const Rule rule_prestop_too_short;
const Rule rule_prestop_too_short = {
    .id = "prestop-too-short",
    .severity = Severity::info,
    .kinds = "Deployment StatefulSet LeaderWorkerSet",
    .title = "the preStop sleep ends before the endpoints drop the pod",
    .why =
        "Endpoints, gateways and load balancers take seconds to notice that a pod ends. Requests that arrive after the "
        "engine has ended fail.",
    .fix = "sleep for 15 s",
    .source = "KServe and llm-d use 15 s",
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
          lifecycle: {preStop: {exec: {command: [sh, -c, sleep 5]}}}
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
          lifecycle: {preStop: {exec: {command: [sh, -c, sleep 15]}}}
)",
    .check = prestop_too_short::check,
};

}  // namespace capstan::lint
