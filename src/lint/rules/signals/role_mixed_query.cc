#include <fmt/format.h>

#include "lint/query.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace role_mixed_query {
namespace {

std::string_view role_of(std::string_view name) {
  return name.find("decode") != name.npos    ? "decode"
         : name.find("prefill") != name.npos ? "prefill"
                                             : std::string_view();
}

const Object* sibling_of(const Subject& s, std::string_view role) {
  for (const Object* other : s.set.beside("ScaledObject", s.object)) {
    const std::string_view theirs = role_of(at(*other, "spec.scaleTargetRef.name").text);
    if (!theirs.empty() && theirs != role && same_space(*other, s.object)) return other;
  }
  return nullptr;
}

void check(const Subject& s) {
  const std::string_view role = role_of(at(s.object, "spec.scaleTargetRef.name").text);
  const Object* sibling = role.empty() ? nullptr : sibling_of(s, role);
  if (sibling == nullptr) return;
  each_query(s.queries(), [&](const ScalingSignal&, const Query& query) {
    for (const MetricUse& use : query.metrics()) {
      if (!use.name.starts_with("vllm:") && !use.name.starts_with("sglang")) continue;
      bool narrowed = false;
      for (const promql::LabelMatcher& matcher : use.selector->matchers) {
        narrowed =
            narrowed || (matcher.name != "namespace" && matcher.name != "model_name" && matcher.name != "engine");
      }
      if (!narrowed)
        s.join(s.report_span(use.span, fmt::format("{} of prefill and decode together scales {}", use.name, role)),
               *sibling);
    }
  });
}

}  // namespace
}  // namespace role_mixed_query

extern const Rule rule_role_mixed_query;
const Rule rule_role_mixed_query = {
    .id = "role-mixed-query",
    .severity = Severity::warning,
    .kinds = "ScaledObject",
    .title = "one role is scaled by the load of both",
    .why = "Decode replicas are added because prompts wait, which they cannot serve.",
    .fix = "{pod=~\".*decode.*\"}",
    .source = "llm-d, disaggregated serving",
    .bad = R"(apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: decode}
spec:
  scaleTargetRef: {name: llm-decode}
  minReplicaCount: 1
  maxReplicaCount: 4
  triggers:
    - {type: prometheus, metadata: {query: 'sum(vllm:kv_cache_usage_perc{namespace="x"})', threshold: "0.8"}}
---
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: prefill}
spec: {scaleTargetRef: {name: llm-prefill}, minReplicaCount: 1, maxReplicaCount: 4}
)",
    .good = R"(apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: decode}
spec:
  scaleTargetRef: {name: llm-decode}
  minReplicaCount: 1
  maxReplicaCount: 4
  triggers:
    - type: prometheus
      metadata: {query: 'sum(vllm:kv_cache_usage_perc{namespace="x",pod=~".*decode.*"})', threshold: "0.8"}
---
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: prefill}
spec: {scaleTargetRef: {name: llm-prefill}, minReplicaCount: 1, maxReplicaCount: 4}
)",
    .check = role_mixed_query::check,
};

}  // namespace capstan::lint
