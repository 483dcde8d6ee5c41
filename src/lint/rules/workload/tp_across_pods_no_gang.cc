#include <fmt/format.h>

#include "lint/pods.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace tp_across_pods_no_gang {
namespace {

/// Labels and annotations by which a scheduler, a queue or a provisioner treats pods as a group.
constexpr std::string_view kGangKeys[] = {"kueue.x-k8s.io/queue-name",
                                          "kai.scheduler/queue",
                                          "scheduling.x-k8s.io/pod-group",
                                          "pod-group.scheduling.sigs.k8s.io",
                                          "scheduling.k8s.io/group-name",
                                          "volcano.sh/queue-name",
                                          "scheduling.volcano.sh/queue-name",
                                          "cluster-autoscaler.kubernetes.io/consume-provisioning-request",
                                          "autoscaling.x-k8s.io/consume-provisioning-request",
                                          "capstan.dev/gang"};

bool is_in_gang(const Object& object, const Pod& pod) {
  const Value& scheduler = (*pod.spec)["schedulerName"];
  if (scheduler && !scheduler.is("default-scheduler")) return true;
  if ((*pod.spec)["workloadRef"] || (*pod.spec)["schedulingGates"]) return true;
  for (const Value* metadata : {&object["metadata"], pod.metadata}) {
    for (const std::string_view key : kGangKeys) {
      if ((*metadata)["labels"][key] || (*metadata)["annotations"][key]) return true;
    }
  }
  return false;
}

void check(const Subject& s) {
  const Value& size = at(s.object, "spec.leaderWorkerTemplate.size");
  const auto count = size.integer();
  if (!count || *count < 2 || !wants_gpu(s.object)) return;
  for (const Pod& pod : pods_of(s.object)) {
    if (is_in_gang(s.object, pod)) return;
  }
  Finding& finding = s.report(
      size,
      fmt::format("the {} pods of a replica are scheduled one by one, so some may hold GPUs while others are pending",
                  *count));
  // Without an autoscaler this is only advice: the groups run if there is room for all pods. An autoscaler may add
  // groups when nodes are missing.
  if (!is_surely_scaled(s.object, s.set)) finding.set_severity(Severity::info);
  finding.mark_absence();
}

}  // namespace
}  // namespace tp_across_pods_no_gang

extern const Rule rule_tp_across_pods_no_gang;
const Rule rule_tp_across_pods_no_gang = {
    .id = "tp-across-pods-no-gang",
    .severity = Severity::warning,
    .kinds = "LeaderWorkerSet",
    .title = "a replica consists of several pods, but no scheduler starts them together",
    .why =
        "The default scheduler starts pods one by one. Seven of eight may hold their GPUs, which cost money without "
        "use, while the eighth waits for a node, and two such groups can block each other permanently. With room for "
        "all pods it works, so this is not an error. Without an autoscaler, which adds groups at any time, it is "
        "advice.",
    .fix = "use schedulerName kai-scheduler with its queue label, or Kueue's queue-name label",
    .source = "KAI, Kueue, LeaderWorkerSet documentation",
    .bad = R"(apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: a}
spec:
  leaderWorkerTemplate:
    size: 2
    workerTemplate:
      spec: {containers: [{name: a, image: "a:1", resources: {limits: {nvidia.com/gpu: 8}}}]}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: a}
spec:
  scaleTargetRef: {apiVersion: leaderworkerset.x-k8s.io/v1, kind: LeaderWorkerSet, name: a}
  maxReplicas: 4
)",
    .good = R"(apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: a, labels: {kueue.x-k8s.io/queue-name: q}}
spec:
  leaderWorkerTemplate:
    size: 2
    workerTemplate:
      spec: {containers: [{name: a, image: "a:1", resources: {limits: {nvidia.com/gpu: 8}}}]}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: a}
spec:
  scaleTargetRef: {apiVersion: leaderworkerset.x-k8s.io/v1, kind: LeaderWorkerSet, name: a}
  maxReplicas: 4
)",
    .check = tp_across_pods_no_gang::check,
};

}  // namespace capstan::lint
