#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "lint/rule.h"

namespace capstan::lint {
namespace formula_name_unknown {
namespace {

/// A name in a formula.
struct Name {
  std::string_view text;
  std::size_t offset = 0;
  bool is_called = false;  ///< true if `(` follows
};

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$'; }

/// Returns the names of variables and functions in a formula, without texts in quotes, fields after a dot and keywords.
std::vector<Name> names_in(std::string_view formula) {
  constexpr std::string_view kKeywords[] = {"and",     "or", "not", "in",    "contains", "startsWith", "endsWith",
                                            "matches", "if", "nil", "false", "true",     "else"};
  std::vector<Name> names;
  for (std::size_t i = 0; i < formula.size(); ++i) {
    const char c = formula[i];
    if (c == '\'' || c == '"' || c == '`') {
      i = std::min(formula.find(c, i + 1), formula.size());
    } else if (is_word(c) || c == '.' || c == '#') {
      std::size_t end = i + 1;  // the word may also be a number, such as 1.5, or a field, such as .value
      while (end < formula.size() && (is_word(formula[end]) || (c >= '0' && c <= '9' && formula[end] == '.'))) ++end;
      const std::string_view word = formula.substr(i, end - i);
      const std::size_t next = std::min(formula.find_first_not_of(" \n", end), formula.size() - 1);
      const bool is_name = std::isalpha(static_cast<unsigned char>(c)) || c == '_';
      if (is_name && std::ranges::find(kKeywords, word) == std::end(kKeywords))
        names.push_back({.text = word, .offset = i, .is_called = end < formula.size() && formula[next] == '('});
      i = end - 1;
    }
  }
  return names;
}

/// Returns true for a function of PromQL or of mathematics that the expression language of KEDA lacks.
bool is_foreign_function(std::string_view name) {
  constexpr std::string_view kNames[] = {"clamp", "clamp_min", "clamp_max", "avg", "rate",  "increase",
                                         "pow",   "sqrt",      "exp",       "ln",  "log10", "log2"};
  return std::ranges::find(kNames, name) != std::end(kNames);
}

/// Returns true if the formula may have names of other things than triggers: it defines names of its own, is filled in
/// later, or has comments.
bool has_other_names(std::string_view formula) {
  return formula.find("let ") != formula.npos || formula.find("{{") != formula.npos ||
         formula.find("$") != formula.npos || formula.find("//") != formula.npos || formula.find("/*") != formula.npos;
}

/// Returns the trigger with this name; a missing value if there is none.
const Value& trigger_of(const Value& triggers, std::string_view name) {
  for (const Value& trigger : triggers.children()) {
    if (trigger["name"].is(name)) return trigger;
  }
  return Value::missing();
}

/// Returns the reason why KEDA refuses a name of the formula; empty if it accepts the name.
std::string fault_of(const Value& triggers, const Name& name) {
  if (name.is_called)
    return is_foreign_function(name.text) ? fmt::format("the language of formulas has no function {}", name.text) : "";
  const Value& trigger = trigger_of(triggers, name.text);
  if (!trigger) return fmt::format("no trigger has the name {}", name.text);
  const bool is_resource = trigger["type"].is("cpu") || trigger["type"].is("memory");
  return is_resource
             ? fmt::format("trigger {} is of type {}, which formulas cannot use", name.text, trigger["type"].text)
             : "";
}

void check(const Subject& s) {
  const Value& formula = at(s.object, "spec.advanced.scalingModifiers.formula");
  const Value& triggers = at(s.object, "spec.triggers");
  if (!formula.is_scalar() || !triggers.is_sequence() || has_other_names(formula.text)) return;
  const auto is_template = [](const Value& trigger) { return is_template_variable(trigger["name"].text); };
  if (std::ranges::any_of(triggers.children(), is_template)) return;
  std::set<std::string_view> reported;
  for (const Name& name : names_in(formula.text)) {
    const std::string fault = fault_of(triggers, name);
    if (fault.empty() || !reported.insert(name.text).second) continue;
    s.report_span(part_of(*s.object.file, formula, name.offset, name.text.size()),
                  fmt::format("KEDA refuses the formula: {}", fault))
        .mark_absence();
  }
}

}  // namespace
}  // namespace formula_name_unknown

extern const Rule rule_formula_name_unknown;
const Rule rule_formula_name_unknown = {
    .id = "formula-name-unknown",
    .severity = Severity::error,
    .kinds = "ScaledObject",
    .title = "a formula names a trigger that does not exist",
    .why =
        "KEDA compiles the formula with the names of the triggers as its variables. With an unknown name the webhook "
        "refuses the ScaledObject; without the webhook the object is never ready. A trigger has a name only if its "
        "field name states one, and triggers of type cpu and memory cannot be used.",
    .fix = "add name to the trigger, next to its type, and use this name in the formula",
    .source =
        "KEDA documentation, scaling modifiers; validateScalingModifiersFormula in KEDA's scaledobject_webhook.go",
    .bad = R"(apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: a}
spec:
  scaleTargetRef: {name: vllm}
  minReplicaCount: 1
  maxReplicaCount: 4
  advanced: {scalingModifiers: {formula: "queue / 2", target: "5"}}
  triggers:
    - {type: prometheus, metadata: {serverAddress: "http://p:9090", query: 'sum(a)', threshold: "5"}}
)",
    .good = R"(apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: a}
spec:
  scaleTargetRef: {name: vllm}
  minReplicaCount: 1
  maxReplicaCount: 4
  advanced: {scalingModifiers: {formula: "queue / 2", target: "5"}}
  triggers:
    - {type: prometheus, name: queue, metadata: {serverAddress: "http://p:9090", query: 'sum(a)', threshold: "5"}}
)",
    .check = formula_name_unknown::check,
};

}  // namespace capstan::lint
