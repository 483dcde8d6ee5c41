#include <fmt/format.h>

#include "lint/pools.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace spot_slo_critical {
namespace {

bool is_online(const Pool& pool) {
  for (const Value& label : (*pool.metadata)["labels"].children()) {
    if (label.text.find("online") != label.text.npos || label.text.find("inference") != label.text.npos) return true;
  }
  return false;
}

void check(const Subject& s) {
  const std::optional<Pool> pool = gpu_pool_of(s.object);
  if (!pool || !is_online(*pool)) return;
  const Value& entry = requirement(*pool, "capacity-type");
  const Value& values = entry["values"];
  if (entry["operator"].is("In") && values.count == 1 && values[0].is("spot")) {
    s.report(values[0], fmt::format("pool {} serves online inference only on spot nodes", s.object.name));
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
        "replica is ready when they are gone.",
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
