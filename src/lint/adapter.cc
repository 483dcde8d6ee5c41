#include "lint/adapter.h"

#include <algorithm>

namespace capstan::lint {
namespace {

constexpr std::string_view kSeries = "seriesQuery";

/// The chart's rules: "custom" and "external" are lists, "default" a word.
const Value& chart_rules(const Value& root) {
  const Value& rules = root["rules"];
  return rules.is_mapping() ? rules : root["prometheus-adapter"]["rules"];
}

bool has_series(const Value& list) { return list[0].has(kSeries); }

/// A rule's `as` names the metric; what it takes from the series, "${1}", may be anything.
bool gives(const Value& rule, std::string_view name) {
  const Value& as = rule["name"]["as"];
  if (!as) return rule[kSeries].text.find(name) != std::string_view::npos;
  const std::size_t begin = as.text.find('$');
  if (begin == as.text.npos) return as.is(name);
  const std::string_view before = as.text.substr(0, begin);
  const std::string_view after = as.text.substr(as.text.find_last_of("$}0123456789") + 1);
  return name.size() >= before.size() + after.size() && name.starts_with(before) && name.ends_with(after);
}

}  // namespace

bool is_adapter_values(const Value& root) {
  const Value& rules = chart_rules(root);
  return has_series(rules["custom"]) || has_series(rules["external"]);
}

AdapterRules::AdapterRules(const Object& object) {
  if (object.kind == "PrometheusAdapterValues") {
    add(chart_rules(*object.root)["custom"]);
    add(chart_rules(*object.root)["external"]);
  } else if (object.kind == "ConfigMap") {
    files_ = embedded_with(*object.file, object["data"], kSeries);
    for (const Embedded& file : files_) {
      add(file.root()["rules"]);
      add(file.root()["externalRules"]);
    }
  }
}

void AdapterRules::add(const Value& list) {
  for (const Value& rule : list.children()) {
    if (rule[kSeries].is_scalar()) rules_.push_back(&rule);
  }
}

bool is_given_by_adapter(const Set& set, const Object& from, std::string_view name) {
  for (const std::string_view kind : {"ConfigMap", "PrometheusAdapterValues"}) {
    for (const Object* object : set.beside(kind, from)) {
      const AdapterRules adapter(*object);
      if (std::ranges::any_of(adapter.rules(), [&](const Value* rule) { return gives(*rule, name); })) return true;
    }
  }
  return false;
}

}  // namespace capstan::lint
