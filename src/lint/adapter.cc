#include "lint/adapter.h"

#include <algorithm>

namespace capstan::lint {
namespace {

constexpr std::string_view kSeries = "seriesQuery";

/// Returns the `rules` mapping of chart values. Its "custom" and "external" are lists of rules.
const Value& chart_rules(const Value& root) {
  const Value& rules = root["rules"];
  return rules.is_mapping() ? rules : root["prometheus-adapter"]["rules"];
}

bool has_series(const Value& list) { return list[0].has(kSeries); }

/// Returns true if a rule may serve a metric under this name. A part of `name.as` that comes from the series, such as
/// "${1}", matches any text. Without `name.as`, the `seriesQuery` must contain the name.
bool produces(const Value& rule, std::string_view name) {
  const Value& as = rule["name"]["as"];
  if (!as) return rule[kSeries].text.find(name) != std::string_view::npos;
  const std::size_t begin = as.text.find('$');
  if (begin == as.text.npos) return as.is(name);
  const std::string_view prefix = as.text.substr(0, begin);
  const std::string_view suffix = as.text.substr(as.text.find_last_of("$}0123456789") + 1);
  return name.size() >= prefix.size() + suffix.size() && name.starts_with(prefix) && name.ends_with(suffix);
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

bool is_served_by_adapter(const Set& set, const Object& from, std::string_view name) {
  for (const std::string_view kind : {"ConfigMap", "PrometheusAdapterValues"}) {
    for (const Object* object : set.in_folder(kind, from)) {
      const AdapterRules adapter(*object);
      if (std::ranges::any_of(adapter.rules(), [&](const Value* rule) { return produces(*rule, name); })) return true;
    }
  }
  return false;
}

}  // namespace capstan::lint
