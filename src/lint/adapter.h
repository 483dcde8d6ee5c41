#pragma once

#include <string_view>
#include <vector>

#include "lint/embedded.h"
#include "lint/set.h"

// Rules of prometheus-adapter. The adapter serves metrics of Prometheus to autoscalers, and its rules name them.
namespace capstan::lint {

/// Returns true for values of the chart of prometheus-adapter.
bool is_adapter_values(const Value& root);

/// The rules of an adapter, from a ConfigMap or from values of its chart. Any other object has no rules.
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

/// Returns true if an adapter in the same folder serves a metric under this name. The series that the adapter reads
/// from Prometheus may have another name.
bool is_served_by_adapter(const Set& set, const Object& from, std::string_view name);

}  // namespace capstan::lint
