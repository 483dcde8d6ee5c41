#include "lint/pods.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace kai_queue_as_annotation {
namespace {

constexpr std::string_view kQueue = "kai.scheduler/queue";

/// Returns true if the pod has the label, the older label of Run:ai, or a PodGroup of another component that names the
/// queue.
bool is_queued(const Value& metadata) {
  return metadata["labels"][kQueue] || metadata["labels"]["runai/queue"] || metadata["annotations"]["pod-group-name"];
}

void check(const Subject& s) {
  for (const Pod& pod : pods_of(s.object)) {
    const Value& scheduler = (*pod.spec)["schedulerName"];
    if (is_queued(*pod.metadata) || is_queued(s.object["metadata"])) continue;
    for (const Value* metadata : {pod.metadata, &s.object["metadata"]}) {
      const Value& misplaced = (*metadata)["annotations"][kQueue];
      if (!misplaced) continue;
      s.report_key(misplaced, "KAI reads the queue from a label and ignores this annotation");
      return;
    }
    if (scheduler.is("kai-scheduler") && !is_operated(s.object)) {
      s.report(scheduler, "the pod uses kai-scheduler but has no label kai.scheduler/queue")
          .set_severity(Severity::info);  // KAI may have a default queue
    }
  }
}

}  // namespace
}  // namespace kai_queue_as_annotation

extern const Rule rule_kai_queue_as_annotation;
const Rule rule_kai_queue_as_annotation = {
    .id = "kai-queue-as-annotation",
    .severity = Severity::error,
    .kinds = "@pods",
    .title = "the queue of KAI must be a label",
    .why = "KAI ignores the annotation. The pods stay pending, or run in the default queue without their quota.",
    .fix = "set labels: {kai.scheduler/queue: NAME} on the pod template",
    .source = "KAI quick start",
    .bad = R"(apiVersion: v1
kind: Pod
metadata: {name: a, annotations: {kai.scheduler/queue: team-a}}
spec: {schedulerName: kai-scheduler, containers: [{name: a, image: "a:1"}]}
)",
    .good = R"(apiVersion: v1
kind: Pod
metadata: {name: a, labels: {kai.scheduler/queue: team-a}}
spec: {schedulerName: kai-scheduler, containers: [{name: a, image: "a:1"}]}
)",
    .check = kai_queue_as_annotation::check,
};

}  // namespace capstan::lint
