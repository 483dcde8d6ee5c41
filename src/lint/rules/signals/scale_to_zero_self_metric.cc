#include <fmt/format.h>

#include <algorithm>

#include "lint/facts.h"
#include "lint/query.h"
#include "lint/rule.h"
#include "promql/function.h"

namespace capstan::lint {
namespace scale_to_zero_self_metric {
namespace {

/// Returns true if the name begins like an engine's metric ("vllm:", "tgi_"), unless it is a known metric of a router.
bool is_of_the_pods(std::string_view name) {
  if (const KnownMetric* known = known_metric(name); known != nullptr && known->is_of_router()) return false;
  for (const std::string_view prefix : {"vllm:", "vllm_", "sglang:", "sglang_", "trtllm_", "tgi_", "nv_inference_",
                                        "llamacpp:", "inference_requests_"}) {
    if (name.starts_with(prefix)) return true;
  }
  return false;
}

/// Returns true if a query returns a value above zero although no pod exists, such as `x or vector(1)` or `absent(x)`.
bool has_value_without_pods(const Subject& s) {
  bool found = false;
  for_each_query(s.queries(), [&](const ScalingSignal&, const Query& query) {
    promql::walk(*query.root(), [&](const promql::Expression& part) {
      const auto* call = std::get_if<promql::Call>(&part.node);
      if (call == nullptr) return;
      const auto* value = call->arguments.empty() ? nullptr : std::get_if<promql::Number>(&call->arguments[0]->node);
      found = found || call->function->name.starts_with("absent") ||
              (call->function->name == "vector" && (value == nullptr || value->value > 0));
    });
  });
  return found;
}

void check(const Subject& s) {
  const std::optional<Scaler> scaler = scaler_of(s.object);
  const Value& idle = s.object["spec"]["idleReplicaCount"];
  if (scaler->min_replicas != 0 && !idle.is("0")) return;
  const auto is_query = [](const ScalingSignal& signal) { return signal.is_query(); };
  if (scaler->signals.empty() || !std::ranges::all_of(scaler->signals, is_query)) return;
  std::string name;
  bool is_own_metric = true;
  for_each_metric_name(s.queries(), [&](const NameUse& use) {
    is_own_metric = is_own_metric && is_of_the_pods(use.name);
    name = use.name;
  });
  if (!is_own_metric || name.empty() || has_value_without_pods(s)) return;
  const Value& place = idle.is("0") ? idle : *scaler->min;
  const std::string message =
      fmt::format("only the pods expose {}, so at zero replicas no signal scales them up", name);
  place ? s.report(place, message) : s.report_key(s.object["spec"]["scaleTargetRef"], message);
}

}  // namespace
}  // namespace scale_to_zero_self_metric

extern const Rule rule_scale_to_zero_self_metric;
const Rule rule_scale_to_zero_self_metric = {
    .id = "scale-to-zero-self-metric",
    .severity = Severity::error,
    .kinds = "ScaledObject",
    .title = "a workload that scales to zero depends on a metric of its own pods",
    .why = "Without pods there is no metric, and without a metric no pods start. The workload stays at zero.",
    .fix =
        "use a metric of the gateway or of a queue (llm_d_epp_flow_control_queue_size), or keep at least one replica",
    .source = "KEDA and Dynamo documentation",
    .bad = R"(apiVersion: keda.sh/v1alpha1
kind: ScaledObject
spec:
  scaleTargetRef: {name: a}
  minReplicaCount: 0
  maxReplicaCount: 4
  triggers:
    - {type: prometheus, metadata: {query: 'sum(vllm:num_requests_waiting{namespace="a"})', threshold: "5"}}
)",
    .good = R"(apiVersion: keda.sh/v1alpha1
kind: ScaledObject
spec:
  scaleTargetRef: {name: a}
  minReplicaCount: 0
  maxReplicaCount: 4
  triggers:
    - type: prometheus
      metadata: {query: 'sum(llm_d_epp_flow_control_queue_size{namespace="a"})', threshold: "5"}
)",
    .check = scale_to_zero_self_metric::check,
};

}  // namespace capstan::lint
