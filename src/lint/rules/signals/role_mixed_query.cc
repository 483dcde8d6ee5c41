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
  for (const Object* other : s.set.in_folder("ScaledObject", s.object)) {
    const std::string_view other_role = role_of(at(*other, "spec.scaleTargetRef.name").text);
    if (!other_role.empty() && other_role != role && may_share_namespace(*other, s.object)) return other;
  }
  return nullptr;
}

void check(const Subject& s) {
  const std::string_view role = role_of(at(s.object, "spec.scaleTargetRef.name").text);
  const Object* sibling = role.empty() ? nullptr : sibling_of(s, role);
  if (sibling == nullptr) return;
  for_each_query(s.queries(), [&](const ScalingSignal&, const Query& query) {
    for (const MetricUse& use : query.metrics()) {
      if (!use.name.starts_with("vllm:") && !use.name.starts_with("sglang")) continue;
      bool selects_role = false;
      for (const promql::LabelMatcher& matcher : use.selector->matchers) {
        selects_role =
            selects_role || (matcher.name != "namespace" && matcher.name != "model_name" && matcher.name != "engine");
      }
      if (!selects_role)
        s.require_object(s.report_span(use.span, fmt::format("{} counts both prefill and decode but scales only {}",
                                                             use.name, role)),
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
    .why = "Decode replicas are added because prompts wait, but they cannot compute prompts.",
    .fix = "add a selector such as {pod=~\".*decode.*\"}",
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
