#include <fmt/format.h>

#include "lint/query.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace metric_label_unknown {
namespace {

/// Labels that people write; others may well have been added on the way.
std::string_view meant_by(std::string_view label) {
  if (label == "model" || label == "modelName" || label == "model_id") return "model_name";
  if (label == "finish_reason" || label == "finishedReason") return "finished_reason";
  return {};
}

void check(const Subject& s) {
  each_query(s.queries(), [&](const ScalingSignal& signal, const Query& query) {
    for (const MetricUse& use : query.metrics()) {
      if (!use.name.starts_with("vllm:")) continue;
      for (const promql::LabelMatcher& matcher : use.selector->matchers) {
        const std::string_view meant = meant_by(matcher.name);
        if (meant.empty()) continue;
        const Span whole = query.span_of(matcher.span);
        const Span name{whole.begin, whole.begin + static_cast<std::uint32_t>(matcher.name.size())};
        Finding& finding = s.report_span(name, fmt::format("vLLM has no label {}, it has {}", matcher.name, meant));
        const bool exact = s.object.file->parsed().substr(name.begin, name.size()) == matcher.name;
        if (exact) finding.replace_part(*signal.metric, name, meant);
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
    .why = "A selector that matches nothing answers nothing, which looks like no load.",
    .fix = "use the label that was meant",
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
