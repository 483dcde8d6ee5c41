#include "lint/pods.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace kai_queue_as_annotation {
namespace {

constexpr std::string_view kQueue = "kai.scheduler/queue";

/// By the label, by the one that KAI had as Run:ai's, or by a PodGroup that somebody else makes and names the queue in.
bool is_queued(const Value& metadata) {
  return metadata["labels"][kQueue] || metadata["labels"]["runai/queue"] || metadata["annotations"]["pod-group-name"];
}

void check(const Subject& s) {
  for (const Pod& pod : pods_of(s.object)) {
    const Value& scheduler = (*pod.spec)["schedulerName"];
    if (is_queued(*pod.metadata) || is_queued(s.object["metadata"])) continue;
    for (const Value* metadata : {pod.metadata, &s.object["metadata"]}) {
      const Value& wrong = (*metadata)["annotations"][kQueue];
      if (!wrong) continue;
      s.report_key(wrong, "the queue of KAI is a label; this annotation is not seen");
      return;
    }
    if (scheduler.is("kai-scheduler") && !is_operated(s.object)) {
      s.report(scheduler, "scheduled by KAI without the label kai.scheduler/queue").as(Severity::warning);
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
    .title = "the queue of KAI is a label",
    .why = "As an annotation it is not seen; the pods wait for ever, or land in the default queue without their quota.",
    .fix = "labels: {kai.scheduler/queue: NAME} on the pod template",
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
