#include "lint/query.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace promql_syntax {
namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

/// Returns true for a text with variables: `${WINDOW}`, `$(NS)`, `$interval`, `{{ .pod }}`, `<pool>`. A `$` that ends a
/// regular expression and a `<` that compares are not variables.
bool has_template_variables(std::string_view text) {
  if (text.find("{{") != text.npos || text.find("<<.") != text.npos) return true;
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    const char next = text[i + 1];
    if (text[i] == '$' && (next == '{' || next == '(' || is_letter(next))) return true;
    if (text[i] == '<' && is_letter(next) && text.find('>', i) != text.npos) return true;
  }
  return false;
}

void check_query(const Subject& s, const Query& query) {
  if (query.fault() && !has_template_variables(query.read()))
    s.report_span(query.fault_span(), "the query is not valid PromQL: " + *query.fault());
}

void check(const Subject& s) {
  for (const auto& [signal, query] : s.queries().rows()) {
    if (query) check_query(s, *query);
  }
  if (s.object.kind != "ScaledJob") return;
  for (const Value& trigger : at(s.object, "spec.triggers").children()) {
    const Value& text = trigger["metadata"]["query"];
    if (trigger["type"].is("prometheus") && text.is_scalar()) check_query(s, Query(*s.object.file, text));
  }
}

}  // namespace
}  // namespace promql_syntax

extern const Rule rule_promql_syntax;
const Rule rule_promql_syntax = {
    .id = "promql-syntax",
    .severity = Severity::warning,
    .kinds = "ScaledObject ScaledJob PrometheusRule @adapter",
    .title = "the query is not valid PromQL",
    .why = "Prometheus refuses it, so KEDA gets no value. With ignoreNullValues that counts as no load.",
    .fix = "correct the query at the marked position",
    .source = "Prometheus documentation",
    .bad = R"(apiVersion: keda.sh/v1alpha1
kind: ScaledObject
spec:
  scaleTargetRef: {name: a}
  minReplicaCount: 1
  maxReplicaCount: 4
  triggers:
    - {type: prometheus, metadata: {query: 'sum(vllm:num_requests_waiting{namespace="a"}', threshold: "5"}}
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
    .check = promql_syntax::check,
};

}  // namespace capstan::lint
