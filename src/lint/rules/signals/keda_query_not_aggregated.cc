#include <fmt/format.h>

#include "lint/facts.h"
#include "lint/query.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace keda_query_not_aggregated {
namespace {

/// Every replica exposes it; of other names nobody can know how many series there are.
bool is_of_each_replica(std::string_view name) {
  const KnownMetric* known = known_metric(name);
  return (known != nullptr && !known->is_of_router()) || name.starts_with("DCGM_");
}

void check(const Subject& s) {
  each_query(s.queries(), [&](const ScalingSignal&, const Query& query) {
    if (labels_of(*query.root())) return;
    for (const MetricUse& use : query.metrics()) {
      if (!is_of_each_replica(use.name) || use.matcher("pod") != nullptr || use.matcher("instance") != nullptr)
        continue;
      s.report_span(query.span_of(query.root()->span),
                    fmt::format("answers one value for each series of {}; KEDA takes one only", use.name));
      return;
    }
  });
}

}  // namespace
}  // namespace keda_query_not_aggregated

extern const Rule rule_keda_query_not_aggregated;
const Rule rule_keda_query_not_aggregated = {
    .id = "keda-query-not-aggregated",
    .severity = Severity::error,
    .kinds = "ScaledObject",
    .title = "the query answers one value for each replica",
    .why =
        "KEDA wants a single one, and refuses several: \"returned multiple elements\". With two replicas scaling "
        "stops.",
    .fix = "sum(...)",
    .source = "KEDA documentation, prometheus scaler; production-stack's first example",
    .bad = R"(apiVersion: keda.sh/v1alpha1
kind: ScaledObject
spec:
  scaleTargetRef: {name: a}
  minReplicaCount: 1
  maxReplicaCount: 4
  triggers: [{type: prometheus, metadata: {query: 'vllm:num_requests_waiting{namespace="a"}', threshold: "5"}}]
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
    .check = keda_query_not_aggregated::check,
};

}  // namespace capstan::lint
