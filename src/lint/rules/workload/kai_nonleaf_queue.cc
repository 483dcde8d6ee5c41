#include <fmt/format.h>

#include "lint/pods.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace kai_nonleaf_queue {
namespace {

void check(const Subject& s) {
  for (const Pod& pod : pods_of(s.object)) {
    const Value& queue = (*pod.metadata)["labels"]["kai.scheduler/queue"];
    if (!queue) continue;
    for (const Object* other : s.set.in_folder("Queue", s.object)) {
      if (!at(*other, "spec.parentQueue").is(queue.text)) continue;
      s.require_object(s.report(queue, fmt::format("queue {} has child queue {}, so it schedules no pods itself",
                                                   queue.text, other->name)),
                       *other, queue.text);
      break;
    }
  }
}

}  // namespace
}  // namespace kai_nonleaf_queue

extern const Rule rule_kai_nonleaf_queue;
const Rule rule_kai_nonleaf_queue = {
    .id = "kai-nonleaf-queue",
    .severity = Severity::error,
    .kinds = "@pods",
    .title = "a workload is in a queue that has child queues",
    .why = "Only queues without children schedule pods, so the pods stay pending.",
    .fix = "name one of the child queues",
    .source = "KAI documentation, queues",
    .bad = R"(apiVersion: scheduling.run.ai/v2
kind: Queue
metadata: {name: team-a}
spec: {parentQueue: all}
---
apiVersion: v1
kind: Pod
metadata: {name: a, labels: {kai.scheduler/queue: all}}
spec: {schedulerName: kai-scheduler, containers: [{name: a, image: "a:1"}]}
)",
    .good = R"(apiVersion: scheduling.run.ai/v2
kind: Queue
metadata: {name: team-a}
spec: {parentQueue: all}
---
apiVersion: v1
kind: Pod
metadata: {name: a, labels: {kai.scheduler/queue: team-a}}
spec: {schedulerName: kai-scheduler, containers: [{name: a, image: "a:1"}]}
)",
    .check = kai_nonleaf_queue::check,
};

}  // namespace capstan::lint
