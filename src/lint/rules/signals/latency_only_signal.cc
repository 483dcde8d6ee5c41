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
  bool is_latency_only = true;
  Span span;
  const std::vector<ScalingSignal> signals = signals_of(s.object);
  for_each_metric_name(s.queries(), [&](const NameUse& use) {
    is_latency_only = is_latency_only && is_latency(use.name);
    if (first == nullptr) span = use.span;
    first = use.signal;
  });
  for (const ScalingSignal& signal : signals)
    is_latency_only = is_latency_only && (signal.metric->is_scalar() && signal.source != SignalSource::resource);
  if (first != nullptr && is_latency_only)
    s.report_span(span, "latency is the only signal, and it rises only after a queue has built up");
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
        "Latency rises only after a queue has built up, and has no value without requests. It comes too late and does "
        "not show how many replicas are missing.",
    .fix = "add a queue metric",
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
