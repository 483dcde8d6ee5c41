#include <fmt/format.h>

#include <algorithm>

#include "lint/facts.h"
#include "lint/query.h"
#include "lint/rule.h"
#include "manifest/fields.h"

namespace capstan::lint {
namespace metric_unknown {
namespace {

bool has_record(const Object& rules, std::string_view name) {
  for (const Value& group : at(rules, "spec.groups").children()) {
    for (const Value& rule : group["rules"].children()) {
      if (rule["record"].is(name)) return true;
    }
  }
  return false;
}

/// Returns true if a recording rule produces the metric: a PrometheusRule in the folder has it, or the name has the
/// form `level:metric:operation`.
bool is_recorded(const Subject& s, std::string_view name) {
  if (std::ranges::count(name, ':') > 1) return true;
  return std::ranges::any_of(s.set.in_folder("PrometheusRule", s.object),
                             [&](const Object* rules) { return has_record(*rules, name); });
}

/// Returns the name of vLLM's series, with ':', if a query asks for it with '_' instead; otherwise empty.
std::string with_colon(const NameUse& use) {
  const KnownMetric* known = known_metric(use.name);
  if (!use.signal->is_query() || !use.name.starts_with("vllm_") || known == nullptr || known->is_of_router()) return {};
  std::string name = use.name;
  name[4] = ':';
  return name;
}

/// Reports a wrong name, and offers to replace it by the name that is meant.
void report_name(const Subject& s, const NameUse& use, std::string message, std::string_view meant) {
  Finding& finding = s.report_span(use.span, std::move(message)).suggest(fmt::format("use {}", meant));
  if (use.span.size() == use.name.size()) finding.replace_part(*use.signal->metric, use.span, meant);
}

void check_similar(const Subject& s, const NameUse& use) {
  const std::vector<std::string> similar = nearest_metrics(use.name);
  if (similar.empty()) {
    // New versions of engines and their connectors add metrics. An unknown name that resembles no known one may be new.
    s.report_span(use.span, fmt::format("{} is not among the known metrics", use.name)).set_severity(Severity::info);
    return;
  }
  const std::vector<std::string_view> names(similar.begin(), similar.end());
  std::string message = fmt::format("there is no metric {}; did you mean {}?", use.name, manifest::one_of(names));
  if (similar.size() == 1) return report_name(s, use, std::move(message), similar.front());
  s.report_span(use.span, std::move(message));
}

void check(const Subject& s) {
  for_each_metric_name(s.queries(), [&](const NameUse& use) {
    if (const std::string colon = with_colon(use); !colon.empty()) {
      if (is_recorded(s, use.name)) return;
      return report_name(s, use, fmt::format("vLLM has no series {}; its name is {}", use.name, colon), colon);
    }
    // An adapter may have chosen the name of an HPA's metric. Only a query surely uses the engine's name.
    if (!use.signal->is_query() || engine_prefix(use.name).empty()) return;
    if (removed_metric(use.name) != nullptr || is_recorded(s, use.name)) return;
    if (const std::string full_name = missing_ending(use.name); !full_name.empty()) {
      return report_name(s, use, fmt::format("no series has the name {}; its name is {}", use.name, full_name),
                         full_name);
    }
    if (known_metric(use.name) == nullptr) check_similar(s, use);
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
        "The query returns nothing, which looks like no load. The series of a counter end in _total, those of a "
        "histogram in _bucket, _sum or _count. A name that resembles no known one is advice, because a newer engine "
        "may have it.",
    .fix = "use the name that the message suggests",
    .fix_safety = FixSafety::unsafe,
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
