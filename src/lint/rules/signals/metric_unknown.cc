#include <fmt/format.h>

#include <algorithm>

#include "lint/facts.h"
#include "lint/query.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace metric_unknown {
namespace {

bool records(const Object& rules, std::string_view name) {
  for (const Value& group : at(rules, "spec.groups").children()) {
    for (const Value& rule : group["rules"].children()) {
      if (rule["record"].is(name)) return true;
    }
  }
  return false;
}

/// Prometheus makes it itself: a rule beside says so, or the form of the name, `level:metric:operation`.
bool is_recorded(const Subject& s, std::string_view name) {
  if (std::ranges::count(name, ':') > 1) return true;
  return std::ranges::any_of(s.set.beside("PrometheusRule", s.object),
                             [&](const Object* rules) { return records(*rules, name); });
}

/// Returns the name with the ':' that vLLM's series have, where a query asks for a known one with '_' in its place.
std::string with_colon(const NameUse& use) {
  if (!use.signal->is_query() || !use.name.starts_with("vllm_") || known_metric(use.name) == nullptr) return {};
  std::string name = use.name;
  name[4] = ':';
  return name;
}

void check(const Subject& s) {
  each_metric_name(s.queries(), [&](const NameUse& use) {
    if (const std::string colon = with_colon(use); !colon.empty()) {
      if (is_recorded(s, use.name)) return;
      s.report_span(use.span, fmt::format("vLLM has no series {}, it is exposed as {}", use.name, colon));
      return;
    }
    // An adapter may have given the name on its side of an HPA; a query asks the engine's own.
    if (!use.signal->is_query() || engine_prefix(use.name).empty()) return;
    if (removed_metric(use.name) != nullptr || is_recorded(s, use.name)) return;
    if (const std::string exact = missing_ending(use.name); !exact.empty()) {
      s.report_span(use.span, fmt::format("no series is named {}, it is exposed as {}", use.name, exact));
      return;
    }
    if (known_metric(use.name) != nullptr) return;
    const std::string meant = nearest_metric(use.name);
    if (meant.empty()) {
      // Engines and their connectors gain metrics; what resembles none may be one of these.
      s.report_span(use.span, fmt::format("{} is none of the metrics that are known here", use.name))
          .as(Severity::info);
    } else {
      s.report_span(use.span, fmt::format("there is no metric {}, did you mean {}?", use.name, meant));
    }
  });
}

}  // namespace
}  // namespace metric_unknown

extern const Rule rule_metric_unknown;
const Rule rule_metric_unknown = {
    .id = "metric-unknown",
    .severity = Severity::warning,
    .kinds = "@scaler PrometheusRule @adapter",
    .title = "the engine has no metric of this name",
    .why =
        "The query answers nothing, which looks like no load. A counter has _total behind its name, a histogram "
        "_bucket, "
        "_sum or _count. A name that resembles no known one is advice: a newer engine may have it.",
    .fix = "the name that was meant, as the message has it",
    .source = "the engines' own metric definitions (data/lint/metrics.csv)",
    .bad = R"(apiVersion: keda.sh/v1alpha1
kind: ScaledObject
spec:
  scaleTargetRef: {name: a}
  minReplicaCount: 1
  maxReplicaCount: 4
  triggers:
    - {type: prometheus, metadata: {query: 'sum(vllm:num_request_waiting{namespace="a"})', threshold: "5"}}
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
    .check = metric_unknown::check,
};

}  // namespace capstan::lint
