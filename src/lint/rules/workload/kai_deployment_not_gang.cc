#include <fmt/format.h>

#include "lint/pods.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace kai_deployment_not_gang {
namespace {

void check(const Subject& s) {
  const auto replicas = s.object["spec"]["replicas"].integer();
  if (replicas.value_or(1) < 2) return;
  for (const Pod& pod : pods_of(s.object)) {
    if (!(*pod.spec)["schedulerName"].is("kai-scheduler")) continue;
    s.report(s.object["spec"]["replicas"],
             fmt::format("KAI makes {} gangs of one pod each from {} replicas", *replicas, *replicas));
  }
}

}  // namespace
}  // namespace kai_deployment_not_gang

extern const Rule rule_kai_deployment_not_gang;
const Rule rule_kai_deployment_not_gang = {
    .id = "kai-deployment-not-gang",
    .severity = Severity::info,
    .kinds = "Deployment",
    .title = "KAI schedules the pods of a Deployment one by one",
    .why = "KAI makes one PodGroup per pod of a Deployment, so it does not place the pods as one gang.",
    .fix = "use a LeaderWorkerSet if the pods belong together",
    .source = "KAI deployment grouper",
    .bad = R"(apiVersion: apps/v1
kind: Deployment
metadata: {name: a}
spec:
  replicas: 4
  selector: {matchLabels: {a: b}}
  template:
    metadata: {labels: {kai.scheduler/queue: q}}
    spec: {schedulerName: kai-scheduler, containers: [{name: a, image: "a:1"}]}
)",
    .good = R"(apiVersion: apps/v1
kind: Deployment
metadata: {name: a}
spec:
  replicas: 1
  selector: {matchLabels: {a: b}}
  template:
    metadata: {labels: {kai.scheduler/queue: q}}
    spec: {schedulerName: kai-scheduler, containers: [{name: a, image: "a:1"}]}
)",
    .check = kai_deployment_not_gang::check,
};

}  // namespace capstan::lint
