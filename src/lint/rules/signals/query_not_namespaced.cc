#include <fmt/format.h>

#include "lint/query.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace query_not_namespaced {
namespace {

void check(const Subject& s) {
  for_each_query(s.queries(), [&](const ScalingSignal& signal, const Query& query) {
    if ((*signal.block)["metadata"]["namespace"] || (*signal.block)["metadata"]["queryParameters"]) return;
    for (const MetricUse& use : query.metrics()) {
      const bool is_of_engine =
          use.name.starts_with("vllm:") || use.name.starts_with("sglang:") || use.name.starts_with("llm_d_epp_");
      if (!is_of_engine || !use.selector->matchers.empty()) continue;
      s.report_span(use.span, fmt::format("the query counts {} of every model in the cluster", use.name));
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
    .why = "Without a namespace, service or model in its selector, the load of other workloads scales this one.",
    .fix = "add a selector such as {namespace=\"...\", model_name=\"...\"}",
    .source = "llm-d's ScaledObjects",
    .bad = R"(apiVersion: keda.sh/v1alpha1
kind: ScaledObject
spec:
  scaleTargetRef: {name: a}
  minReplicaCount: 1
  maxReplicaCount: 4
  triggers: [{type: prometheus, metadata: {query: 'sum(vllm:num_requests_waiting)', threshold: "5"}}]
)",
    .good = R"(apiVersion: keda.sh/v1alpha1
kind: ScaledObject
spec:
  scaleTargetRef: {name: a}
  minReplicaCount: 1
  maxReplicaCount: 4
  triggers:
    - {type: prometheus, metadata: {query: 'sum(vllm:num_requests_waiting{namespace="x"})', threshold: "5"}}
)",
    .check = query_not_namespaced::check,
};

}  // namespace capstan::lint
