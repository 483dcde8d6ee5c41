#include <fmt/format.h>

#include "lint/facts.h"
#include "lint/query.h"
#include "lint/rule.h"
#include "promql/function.h"

namespace capstan::lint {
namespace rate_of_gauge {
namespace {

/// Returns true for a gauge. The type of an unknown metric is guessed from its name.
bool is_gauge(std::string_view name) {
  if (const KnownMetric* known = known_metric(name)) return known->is_gauge();
  for (const std::string_view ending : {"_total", "_count", "_sum", "_bucket", "_created"}) {
    if (name.ends_with(ending)) return false;
  }
  for (const std::string_view word : {"waiting", "pending", "queue_size", "queue_depth", "queue_length", "running",
                                      "usage", "utilization", "inflight"}) {
    if (name.find(word) != name.npos) return true;
  }
  return false;
}

void check(const Subject& s) {
  for_each_query(s.queries(), [&](const ScalingSignal& signal, const Query& query) {
    promql::walk(*query.root(), [&](const promql::Expression& expression) {
      const auto* call = std::get_if<promql::Call>(&expression.node);
      if (call == nullptr || call->arguments.empty()) return;
      const std::string_view name = call->function->name;
      const auto* selector = std::get_if<promql::Selector>(&call->arguments[0]->node);
      if ((name != "rate" && name != "irate" && name != "increase") || selector == nullptr ||
          !is_gauge(selector->metric))
        return;
      Finding& finding = s.report_span(
          query.span_of(expression.span),
          fmt::format("{}() is applied to {}, which is a gauge and not a counter", name, selector->metric));
      if (known_metric(selector->metric) == nullptr) finding.set_severity(Severity::warning);
      promql::Span word = expression.span;
      word.end_offset = word.begin.offset + static_cast<std::uint32_t>(name.size());
      const Span place = query.span_of(word);
      if (s.object.file->parsed().substr(place.begin, place.size()) == name) {
        finding.replace_part(*signal.metric, place, "avg_over_time");
      }
    });
  });
}

}  // namespace
}  // namespace rate_of_gauge

extern const Rule rule_rate_of_gauge;
const Rule rule_rate_of_gauge = {
    .id = "rate-of-gauge",
    .severity = Severity::error,
    .kinds = "ScaledObject @adapter",
    .title = "rate() is applied to a gauge",
    .why =
        "rate() computes the growth of a counter. For a queue that rises and falls it takes every fall for a restart "
        "of the counter, so the result has no meaning. A constant queue of 500 has the rate 0, so the workload does "
        "not scale.",
    .fix = "use avg_over_time(), or the gauge itself",
    .fix_safety = FixSafety::unsafe,
    .source = "Prometheus documentation, rate()",
    .bad = R"(apiVersion: keda.sh/v1alpha1
kind: ScaledObject
spec:
  scaleTargetRef: {name: a}
  minReplicaCount: 1
  maxReplicaCount: 4
  triggers:
    - type: prometheus
      metadata: {query: 'sum(rate(inference_requests_pending[1m]))', threshold: "10"}
)",
    .good = R"(apiVersion: keda.sh/v1alpha1
kind: ScaledObject
spec:
  scaleTargetRef: {name: a}
  minReplicaCount: 1
  maxReplicaCount: 4
  triggers:
    - type: prometheus
      metadata: {query: 'sum(avg_over_time(inference_requests_pending[1m]))', threshold: "10"}
)",
    .check = rate_of_gauge::check,
};

}  // namespace capstan::lint
