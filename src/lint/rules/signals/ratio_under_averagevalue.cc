#include <fmt/format.h>

#include "lint/query.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace ratio_under_averagevalue {
namespace {

using promql::Aggregation;

bool is_ratio(const Query& query, double threshold, bool& is_certain) {
  for (const MetricUse& use : query.metrics()) {
    is_certain = is_ratio_metric(use.name) || use.name == "vllm:gpu_cache_usage_perc";
    if (is_certain) return true;
    for (const std::string_view word : {"perc", "ratio", "usage", "util"}) {
      if (threshold <= 1 && use.name.find(word) != use.name.npos) return true;
    }
  }
  return false;
}

void check(const Subject& s) {
  if (has_formula(s.object)) return;
  const auto max = scaler_of(s.object)->max->integer().value_or(100);
  for_each_query(s.queries(), [&](const ScalingSignal& signal, const Query& query) {
    const auto [expression, factor] = without_factor(*query.root());
    const promql::Expression& inner = *expression;
    const auto* outer = std::get_if<Aggregation>(&inner.node);
    auto threshold = signal.target->number();
    if (!signal.is_averaged || !threshold || outer == nullptr) return;
    *threshold /= factor;
    if (*threshold <= 0 || *threshold > 1) return;
    const bool is_bounded = outer->op == Aggregation::Op::max || outer->op == Aggregation::Op::avg ||
                            outer->op == Aggregation::Op::min || outer->op == Aggregation::Op::quantile;
    bool is_certain = false;
    if (!is_bounded || !outer->labels.empty() || !std::holds_alternative<promql::Selector>(outer->operand->node))
      return;
    if (!is_ratio(query, *threshold, is_certain)) return;
    const auto whole = static_cast<std::int64_t>(1 / *threshold);
    const std::int64_t cap = static_cast<double>(whole) * *threshold < 1 - 1e-9 ? whole + 1 : whole;
    if (cap >= max) return;
    const std::int64_t min = scaler_of(s.object)->min_replicas;
    if (is_certain && cap <= min) {
      s.report_span(query.span_of(inner.span),
                    fmt::format("{}() of a ratio is at most {:g}, and {:g} / {} is {} replicas, which is never more "
                                "than the minimum of {}",
                                promql::text(outer->op), factor, factor, signal.target->text, cap, min));
    } else if (is_certain) {
      s.report_span(
          query.span_of(inner.span),
          fmt::format("{}() of a ratio is at most {:g}, and {:g} / {} is at most {} replicas, but the maximum is {}",
                      promql::text(outer->op), factor, factor, signal.target->text, cap, max));
    } else {
      s.report_span(
           query.span_of(inner.span),
           fmt::format(
               "{}() does not grow with the replicas. If the metric is a ratio, {:g} / {} is at most {} replicas, "
               "but the maximum is {}",
               promql::text(outer->op), factor, signal.target->text, cap, max))
          .set_severity(Severity::info);
    }
  });
}

}  // namespace
}  // namespace ratio_under_averagevalue

extern const Rule rule_ratio_under_averagevalue;
const Rule rule_ratio_under_averagevalue = {
    .id = "ratio-under-averagevalue",
    .severity = Severity::error,
    .kinds = "ScaledObject",
    .title = "a ratio is divided by the replicas",
    .why =
        "KEDA asks for value / threshold replicas. The maximum or the mean of ratios is at most 1, so there are never "
        "more than 1 / threshold replicas, however full the caches are.",
    .fix = "use sum() over the replicas, or metricType Value",
    .source = "KEDA documentation, metricType; llm-d: \"would pin decode at 2 replicas forever\"",
    .bad = R"(apiVersion: keda.sh/v1alpha1
kind: ScaledObject
spec:
  scaleTargetRef: {name: a}
  minReplicaCount: 1
  maxReplicaCount: 8
  triggers:
    - {type: prometheus, metadata: {query: 'max(vllm:kv_cache_usage_perc{namespace="a"})', threshold: "0.85"}}
)",
    .good = R"(apiVersion: keda.sh/v1alpha1
kind: ScaledObject
spec:
  scaleTargetRef: {name: a}
  minReplicaCount: 1
  maxReplicaCount: 8
  triggers:
    - {type: prometheus, metadata: {query: 'sum(vllm:kv_cache_usage_perc{namespace="a"})', threshold: "0.8"}}
)",
    .check = ratio_under_averagevalue::check,
};

}  // namespace capstan::lint
