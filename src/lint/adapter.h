#pragma once

#include <string_view>
#include <vector>

#include "lint/embedded.h"
#include "lint/set.h"

// Rules of prometheus-adapter, which gives the autoscalers metrics of Prometheus under names that the rules choose.
namespace capstan::lint {

/// Returns true for values of the chart of prometheus-adapter.
bool is_adapter_values(const Value& root);

/// The rules of an adapter's configuration: from a ConfigMap or from values of the chart. Any other object has none.
class AdapterRules {
 public:
  explicit AdapterRules(const Object& object);

  /// Returns the rules that have a `seriesQuery`.
  const std::vector<const Value*>& rules() const { return rules_; }

 private:
  void add(const Value& list);

  std::vector<Embedded> files_;
  std::vector<const Value*> rules_;
};

/// Returns true if a rule of an adapter in the same folder gives a metric this name, whatever the series is.
bool is_given_by_adapter(const Set& set, const Object& from, std::string_view name);

}  // namespace capstan::lint
