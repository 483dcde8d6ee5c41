#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "kube/json.h"
#include "kube/meta.h"
#include "kube/wall_time.h"

namespace capstan::kube {

// Parts that several kinds of objects share.

/// One condition of a status.
struct Condition {
  std::string type;
  bool is_true = false;
  bool is_false = false;  ///< true if the status is "False"; if both flags are false, the status is Unknown
  std::string reason;
  std::string message;
  WallTime since;
  friend bool operator==(const Condition&, const Condition&) = default;
};

std::vector<Condition> read_conditions(Json list);
const Condition* find_condition(const std::vector<Condition>& conditions, std::string_view type);
bool is_true(const std::vector<Condition>& conditions, std::string_view type);  ///< true if the condition is True

/// Amounts of resources by name ("nvidia.com/gpu", "cpu", "memory"), in 1/1000 of their unit.
struct Resources {
  std::vector<std::pair<std::string, std::int64_t>> milli;  ///< names and amounts, sorted by name

  std::int64_t get(std::string_view name) const;
  void add(std::string_view name, std::int64_t amount);
  void raise(std::string_view name, std::int64_t amount);  ///< raises the amount to at least `amount`
  friend bool operator==(const Resources&, const Resources&) = default;
};

Resources read_resources(Json object);

/// A requirement on a label, from a selector, an affinity or a NodePool.
struct Requirement {
  std::string key;
  std::string op;  ///< In, NotIn, Exists, DoesNotExist, Gt, Lt, Gte, Lte
  std::vector<std::string> values;
  std::int64_t min_values = 0;  ///< `minValues` of Karpenter
  friend bool operator==(const Requirement&, const Requirement&) = default;
};

std::vector<Requirement> read_requirements(Json list);
/// Returns true if the labels meet the requirement. An unknown operator is never met.
bool holds(const Requirement& requirement, const StringMap& labels);

/// A label selector. An absent selector selects nothing, an empty one everything.
struct Selector {
  bool present = false;
  StringMap labels;
  std::vector<Requirement> expressions;

  bool matches(const StringMap& of) const;
  friend bool operator==(const Selector&, const Selector&) = default;
};

Selector read_selector(Json selector);

/// A reference to another object, for example from a scaler to its target.
struct TargetRef {
  std::string api_version;
  std::string kind;
  std::string name;
  friend bool operator==(const TargetRef&, const TargetRef&) = default;
};

TargetRef read_target_ref(Json ref);

struct Taint {
  std::string key;
  std::string value;
  std::string effect;
  friend bool operator==(const Taint&, const Taint&) = default;
};

std::vector<Taint> read_taints(Json list);

std::vector<std::string> read_texts(Json list);

/// Reads a duration such as "720h". Returns none for "Never", an absent value and an invalid duration.
std::optional<Duration> read_duration(Json value);

}  // namespace capstan::kube
