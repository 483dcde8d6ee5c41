#include <fmt/format.h>

#include "lint/query.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace metric_label_unknown {
namespace {

/// Returns the correct label for a common mistake. Returns nothing for other unknown labels, which relabelling may have
/// added.
std::string_view corrected_label(std::string_view label) {
  if (label == "model" || label == "modelName" || label == "model_id") return "model_name";
  if (label == "finish_reason" || label == "finishedReason") return "finished_reason";
  return {};
}

void check(const Subject& s) {
  for_each_query(s.queries(), [&](const ScalingSignal& signal, const Query& query) {
    for (const MetricUse& use : query.metrics()) {
      if (!use.name.starts_with("vllm:")) continue;
      for (const promql::LabelMatcher& matcher : use.selector->matchers) {
        const std::string_view correct = corrected_label(matcher.name);
        if (correct.empty()) continue;
        const Span matcher_span = query.span_of(matcher.span);
        const Span name{matcher_span.begin, matcher_span.begin + static_cast<std::uint32_t>(matcher.name.size())};
        Finding& finding =
            s.report_span(name, fmt::format("vLLM has no label {}; the label is {}", matcher.name, correct));
        const bool is_verbatim = s.object.file->parsed().substr(name.begin, name.size()) == matcher.name;
        if (is_verbatim) finding.replace_part(*signal.metric, name, correct);
        // Prometheus may add a label of the pod, such as the model, to all its metrics.
        if (correct == "model_name") finding.set_severity(Severity::info);
      }
    }
  });
}

}  // namespace
}  // namespace metric_label_unknown

extern const Rule rule_metric_label_unknown;
const Rule rule_metric_label_unknown = {
    .id = "metric-label-unknown",
    .severity = Severity::warning,
    .kinds = "ScaledObject",
    .title = "the engine's metrics have no such label",
    .why =
        "A selector that matches no series returns nothing, which looks like no load. For the label of the model the "
        "finding is advice, because a monitor may copy such a label from the pods.",
    .fix = "use the label that the message names",
    .fix_safety = FixSafety::unsafe,
    .source = "vLLM metrics: model_name, engine, finished_reason; production-stack's chart had model",
    .bad = R"(apiVersion: keda.sh/v1alpha1
kind: ScaledObject
spec:
  scaleTargetRef: {name: a}
  minReplicaCount: 1
  maxReplicaCount: 4
  triggers:
    - type: prometheus
      metadata: {query: 'sum(vllm:num_requests_waiting{model="llama"})', threshold: "5"}
)",
    .good = R"(apiVersion: keda.sh/v1alpha1
kind: ScaledObject
spec:
  scaleTargetRef: {name: a}
  minReplicaCount: 1
  maxReplicaCount: 4
  triggers:
    - type: prometheus
      metadata: {query: 'sum(vllm:num_requests_waiting{model_name="llama"})', threshold: "5"}
)",
    .check = metric_label_unknown::check,
};

}  // namespace capstan::lint
