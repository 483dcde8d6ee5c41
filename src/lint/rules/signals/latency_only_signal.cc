#include "lint/query.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace latency_only_signal {
namespace {

bool is_latency(std::string_view name) {
  for (const std::string_view word :
       {"time_to_first_token", "ttft", "latency", "inter_token", "time_per_output_token"}) {
    if (name.find(word) != name.npos) return true;
  }
  return false;
}

void check(const Subject& s) {
  const ScalingSignal* first = nullptr;
  bool all = true;
  Span span;
  const std::vector<ScalingSignal> signals = signals_of(s.object);
  each_metric_name(s.queries(), [&](const NameUse& use) {
    all = all && is_latency(use.name);
    if (first == nullptr) span = use.span;
    first = use.signal;
  });
  for (const ScalingSignal& signal : signals)
    all = all && (signal.metric->is_scalar() && signal.source != SignalSource::resource);
  if (first != nullptr && all)
    s.report_span(span, "latency is the only signal: it rises when the queue is there already");
}

}  // namespace
}  // namespace latency_only_signal

extern const Rule rule_latency_only_signal;
const Rule rule_latency_only_signal = {
    .id = "latency-only-signal",
    .severity = Severity::info,
    .kinds = "@scaler",
    .title = "latency is the only signal",
    .why =
        "It rises when the queue is there already, and is empty when nothing is asked: it comes too late and says "
        "nothing of how much is missing.",
    .fix = "a queue metric beside it",
    .source = "autoscaling practice of llm-d and vLLM",
    .bad = R"(apiVersion: keda.sh/v1alpha1
kind: ScaledObject
spec:
  scaleTargetRef: {name: a}
  minReplicaCount: 1
  maxReplicaCount: 4
  triggers:
    - type: prometheus
      metadata:
        query: |
          histogram_quantile(0.95, sum by (le) (
            rate(vllm:time_to_first_token_seconds_bucket{namespace="a"}[2m]))) or vector(0)
        threshold: "1"
)",
    .good = R"(apiVersion: keda.sh/v1alpha1
kind: ScaledObject
spec:
  scaleTargetRef: {name: a}
  minReplicaCount: 1
  maxReplicaCount: 4
  triggers:
    - {type: prometheus, metadata: {query: 'sum(vllm:num_requests_waiting{namespace="a"})', threshold: "5"}}
)",
    .check = latency_only_signal::check,
};

}  // namespace capstan::lint
