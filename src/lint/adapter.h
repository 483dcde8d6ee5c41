#pragma once

#include <string_view>
#include <vector>

#include "lint/embedded.h"
#include "lint/set.h"

// The adapter between Prometheus and the autoscalers, which gives them metrics under names of its own.
namespace capstan::lint {

/// Values of the chart of prometheus-adapter.
bool is_adapter_values(const Value& root);

/// The rules of an adapter's configuration in a ConfigMap, or of the values of its chart; of any other object none.
class AdapterRules {
 public:
  explicit AdapterRules(const Object& object);

  /// Each with its `seriesQuery`.
  const std::vector<const Value*>& rules() const { return rules_; }

 private:
  void add(const Value& list);

  std::vector<Embedded> files_;
  std::vector<const Value*> rules_;
};

/// Does a rule of an adapter in the same folder give a metric this name, for whatever series?
bool is_given_by_adapter(const Set& set, const Object& from, std::string_view name);

}  // namespace capstan::lint
