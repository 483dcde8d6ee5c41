#include <fmt/format.h>

#include <algorithm>

#include "lint/pools.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace spot_slo_critical {
namespace {

bool has_label_with(const Pool& pool, std::string_view word) {
  return std::ranges::any_of((*pool.metadata)["labels"].children(),
                             [&](const Value& label) { return label.text.find(word) != label.text.npos; });
}

/// Returns true if the input has another GPU pool, which may have the nodes for the base load.
bool has_other_gpu_pool(const Subject& s) {
  const auto pools = s.set.in_closest_folder("NodePool", s.object);
  return std::ranges::any_of(pools, [&](const Object* pool) { return pool != &s.object && gpu_pool_of(*pool); });
}

void check(const Subject& s) {
  const std::optional<Pool> pool = gpu_pool_of(s.object);
  if (!pool) return;
  const bool is_online = has_label_with(*pool, "online");
  if (!is_online && !has_label_with(*pool, "inference")) return;
  const Value& entry = requirement(*pool, "capacity-type");
  const Value& values = entry["values"];
  if (entry["operator"].is("In") && values.count == 1 && values[0].is("spot")) {
    Finding& finding = s.report(values[0], fmt::format("pool {} serves inference only on spot nodes", s.object.name));
    // Without the label "online", the pool may serve batch inference, or a service that accepts gaps for a lower price.
    // Another GPU pool may have the nodes for the base load. In both cases the finding is only advice.
    if (!is_online || has_other_gpu_pool(s)) finding.set_severity(Severity::info);
  }
}

}  // namespace
}  // namespace spot_slo_critical

extern const Rule rule_spot_slo_critical;
const Rule rule_spot_slo_critical = {
    .id = "spot-slo-critical",
    .severity = Severity::warning,
    .kinds = "NodePool",
    .title = "online inference runs only on spot nodes",
    .why =
        "The cloud reclaims spot nodes with two minutes' notice, often many at once. A cold start takes longer, so no "
        "replica is ready when they are gone. The finding is only advice if no label says that the service is online, "
        "or if the input has another GPU pool.",
    .fix = "use on-demand nodes for the base load and spot nodes for bursts",
    .source = "cloud providers' spot documentation",
    .bad = R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpu}
spec:
  limits: {nvidia.com/gpu: 8}
  template:
    metadata: {labels: {workload-type: online-inference}}
    spec: {requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [spot]}]}
)",
    .good = R"(apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: gpu}
spec:
  limits: {nvidia.com/gpu: 8}
  template:
    metadata: {labels: {workload-type: online-inference}}
    spec: {requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}]}
)",
    .check = spot_slo_critical::check,
};

}  // namespace capstan::lint
