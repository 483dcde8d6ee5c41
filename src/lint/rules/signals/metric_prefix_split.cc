#include <fmt/format.h>

#include "lint/query.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace metric_prefix_split {
namespace {

void check(const Subject& s) {
  for_each_query(s.queries(), [&](const ScalingSignal&, const Query& query) {
    for (const MetricUse& use : query.metrics()) {
      if (!use.selector->metric.starts_with("sglang:") && !use.selector->metric.starts_with("sglang_")) continue;
      s.report_span(use.span, fmt::format("{} also occurs with ':' and '_' exchanged", use.name));
    }
  });
}

}  // namespace
}  // namespace metric_prefix_split

extern const Rule rule_metric_prefix_split;
const Rule rule_metric_prefix_split = {
    .id = "metric-prefix-split",
    .severity = Severity::info,
    .kinds = "ScaledObject",
    .title = "SGLang's metrics have two spellings",
    .why =
        "The server writes sglang:, but its router and gateways write sglang_. After a change of the source the query "
        "returns nothing.",
    .fix = "use {__name__=~\"sglang[:_]num_queue_reqs\"}",
    .source = "sgl-project/sglang #21326, #12970",
    .bad = R"(apiVersion: keda.sh/v1alpha1
kind: ScaledObject
spec:
  scaleTargetRef: {name: a}
  minReplicaCount: 1
  maxReplicaCount: 4
  triggers: [{type: prometheus, metadata: {query: 'sum(sglang:num_queue_reqs{namespace="a"})', threshold: "5"}}]
)",
    .good = R"(apiVersion: keda.sh/v1alpha1
kind: ScaledObject
spec:
  scaleTargetRef: {name: a}
  minReplicaCount: 1
  maxReplicaCount: 4
  triggers:
    - type: prometheus
      metadata: {query: 'sum({__name__=~"sglang[:_]num_queue_reqs",namespace="a"})', threshold: "5"}
)",
    .check = metric_prefix_split::check,
};

}  // namespace capstan::lint
