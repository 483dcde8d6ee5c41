#include "lint/query.h"
#include "lint/rule.h"
#include "promql/function.h"

namespace capstan::lint {
namespace or_vector0_on_labelled {
namespace {

void check(const Subject& s) {
  for_each_query(s.queries(), [&](const ScalingSignal&, const Query& query) {
    const auto* node = std::get_if<promql::Binary>(&query.root()->node);
    if (node == nullptr || node->op != promql::Binary::Op::or_ || node->on) return;
    const auto* call = std::get_if<promql::Call>(&node->right->node);
    if (call == nullptr || call->function->name != "vector") return;
    const auto labels = labels_of(*node->left);
    if (labels && labels->empty()) return;
    s.report_span(query.span_of(node->left->span), "the left side keeps its labels, so vector(0) adds another series");
  });
}

}  // namespace
}  // namespace or_vector0_on_labelled

extern const Rule rule_or_vector0_on_labelled;
const Rule rule_or_vector0_on_labelled = {
    .id = "or-vector0-on-labelled",
    .severity = Severity::warning,
    .kinds = "ScaledObject",
    .title = "or vector(0) adds a series instead of a default value",
    .why =
        "vector(0) has no labels. Next to series with labels it is always added, so KEDA gets several values and "
        "refuses them.",
    .fix = "use sum(X) or vector(0)",
    .source = "Prometheus documentation, set operators; llm-d's comments",
    .bad = R"(apiVersion: keda.sh/v1alpha1
kind: ScaledObject
spec:
  scaleTargetRef: {name: a}
  minReplicaCount: 1
  maxReplicaCount: 4
  triggers:
    - type: prometheus
      metadata: {query: 'vllm:num_requests_waiting{namespace="a"} or vector(0)', threshold: "5"}
)",
    .good = R"(apiVersion: keda.sh/v1alpha1
kind: ScaledObject
spec:
  scaleTargetRef: {name: a}
  minReplicaCount: 1
  maxReplicaCount: 4
  triggers:
    - type: prometheus
      metadata: {query: 'sum(vllm:num_requests_waiting{namespace="a"}) or vector(0)', threshold: "5"}
)",
    .check = or_vector0_on_labelled::check,
};

}  // namespace capstan::lint
