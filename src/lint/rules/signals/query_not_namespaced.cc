#include <fmt/format.h>

#include <algorithm>

#include "lint/container_start.h"
#include "lint/pods.h"
#include "lint/query.h"
#include "lint/rule.h"
#include "lint/scalers.h"

namespace capstan::lint {
namespace query_not_namespaced {
namespace {

/// Returns true if the input shows that the query also counts another workload: the folder has a workload with an
/// engine that is deployed together with the scaler and is not its target.
bool has_other_engine(const Subject& s) {
  const std::optional<Scaler> scaler = scaler_of(s.object);
  if (!scaler) return false;
  for (const std::string_view kind : {"Deployment", "StatefulSet", "LeaderWorkerSet", "Rollout"}) {
    for (const Object* workload : s.set.in_folder(kind, s.object)) {
      if (scaler->target_name->is(workload->name)) continue;
      const bool runs = std::ranges::any_of(pods_of(*workload), [](const Pod& pod) {
        return std::ranges::any_of(containers_of(pod),
                                   [](const Value* container) { return runs_language_engine(*container); });
      });
      if (runs && s.set.deployed_together(s.object, *workload)) return true;
    }
  }
  return false;
}

void check(const Subject& s) {
  const bool has_other = has_other_engine(s);
  for_each_query(s.queries(), [&](const ScalingSignal& signal, const Query& query) {
    if ((*signal.block)["metadata"]["namespace"] || (*signal.block)["metadata"]["queryParameters"]) return;
    for (const MetricUse& use : query.metrics()) {
      const bool is_of_engine =
          use.name.starts_with("vllm:") || use.name.starts_with("sglang:") || use.name.starts_with("llm_d_epp_");
      if (!is_of_engine || !use.selector->matchers.empty()) continue;
      Finding& finding =
          s.report_span(use.span, fmt::format("the query counts {} of every model in the cluster", use.name));
      if (!has_other) finding.set_severity(Severity::info);
      return;
    }
  });
}

}  // namespace
}  // namespace query_not_namespaced

extern const Rule rule_query_not_namespaced;
const Rule rule_query_not_namespaced = {
    .id = "query-not-namespaced",
    .severity = Severity::warning,
    .kinds = "ScaledObject",
    .title = "the query counts every model of the cluster",
    .why =
        "Without a namespace, service or model in its selector, the load of other workloads scales this one. "
        "The finding is a warning if another engine is deployed together with this scaler. Otherwise it is advice, "
        "because the cluster, or its Prometheus, may have only this engine.",
    .fix = "add a selector such as {namespace=\"...\", model_name=\"...\"}",
    .source = "llm-d's ScaledObjects",
    .bad = R"(apiVersion: keda.sh/v1alpha1
kind: ScaledObject
spec:
  scaleTargetRef: {name: a}
  minReplicaCount: 1
  maxReplicaCount: 4
  triggers: [{type: prometheus, metadata: {query: 'sum(vllm:num_requests_waiting)', threshold: "5"}}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: b}
spec:
  selector: {matchLabels: {a: b}}
  template: {spec: {containers: [{name: a, image: "vllm/vllm-openai:v0.20.0"}]}}
)",
    .good = R"(apiVersion: keda.sh/v1alpha1
kind: ScaledObject
spec:
  scaleTargetRef: {name: a}
  minReplicaCount: 1
  maxReplicaCount: 4
  triggers:
    - {type: prometheus, metadata: {query: 'sum(vllm:num_requests_waiting{namespace="x"})', threshold: "5"}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: b}
spec:
  selector: {matchLabels: {a: b}}
  template: {spec: {containers: [{name: a, image: "vllm/vllm-openai:v0.20.0"}]}}
)",
    .check = query_not_namespaced::check,
};

}  // namespace capstan::lint
