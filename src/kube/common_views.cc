#include "kube/common_views.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "manifest/quantity.h"
#include "manifest/scalars.h"

namespace capstan::kube {
namespace {

auto place_of(auto& milli, std::string_view name) {
  return std::ranges::lower_bound(milli, name, {}, [](const auto& entry) { return std::string_view(entry.first); });
}

std::optional<std::int64_t> integer_of(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

/// Compares a label's value with the single value of a requirement, both read as integers. Returns -1, 0 or 1, or
/// nothing if one of them is not an integer.
std::optional<int> compared(const std::string* value, const std::vector<std::string>& with) {
  if (value == nullptr || with.size() != 1) return std::nullopt;
  const std::optional<std::int64_t> left = integer_of(*value), right = integer_of(with.front());
  if (!left || !right) return std::nullopt;
  return *left < *right ? -1 : *left > *right ? 1 : 0;
}

}  // namespace

bool holds(const Requirement& requirement, const StringMap& labels) {
  const std::string* value = labels.find(requirement.key);
  const bool is_listed = value != nullptr && std::ranges::find(requirement.values, *value) != requirement.values.end();
  if (requirement.op == "In") return is_listed;
  if (requirement.op == "NotIn") return !is_listed;
  if (requirement.op == "Exists") return value != nullptr;
  if (requirement.op == "DoesNotExist") return value == nullptr;
  const std::optional<int> order = compared(value, requirement.values);
  if (!order) return false;
  return requirement.op == "Gt"    ? *order > 0
         : requirement.op == "Lt"  ? *order < 0
         : requirement.op == "Gte" ? *order >= 0
                                   : requirement.op == "Lte" && *order <= 0;
}

std::vector<Condition> read_conditions(Json list) {
  std::vector<Condition> conditions;
  list.for_each([&](Json item) {
    conditions.push_back({.type = item["type"].string(),
                          .is_true = item["status"].text() == "True",
                          .is_false = item["status"].text() == "False",
                          .reason = item["reason"].string(),
                          .message = item["message"].string(),
                          .since = read_wall_time(item["lastTransitionTime"].text()).value_or(WallTime{})});
  });
  return conditions;
}

const Condition* find_condition(const std::vector<Condition>& conditions, std::string_view type) {
  const auto found = std::ranges::find(conditions, type, &Condition::type);
  return found == conditions.end() ? nullptr : &*found;
}

bool is_true(const std::vector<Condition>& conditions, std::string_view type) {
  const Condition* condition = find_condition(conditions, type);
  return condition != nullptr && condition->is_true;
}

std::int64_t Resources::get(std::string_view name) const {
  const auto at = place_of(milli, name);
  return at != milli.end() && at->first == name ? at->second : 0;
}

void Resources::add(std::string_view name, std::int64_t amount) {
  const auto at = place_of(milli, name);
  if (at != milli.end() && at->first == name) {
    // Objects may ask for arbitrarily large amounts, so the sum saturates.
    if (__builtin_add_overflow(at->second, amount, &at->second)) at->second = INT64_MAX;
  } else {
    milli.emplace(at, name, amount);
  }
}

void Resources::raise(std::string_view name, std::int64_t amount) {
  const std::int64_t now = get(name);
  if (amount > now) add(name, amount - now);
}

Resources read_resources(Json object) {
  Resources resources;
  object.for_each_field([&](std::string_view name, Json value) {
    if (const auto amount = manifest::read_quantity_milli(value.scalar())) resources.raise(name, *amount);
  });
  return resources;
}

std::vector<Requirement> read_requirements(Json list) {
  std::vector<Requirement> requirements;
  list.for_each([&](Json item) {
    requirements.push_back({.key = item["key"].string(),
                            .op = item["operator"].string(),
                            .values = read_texts(item["values"]),
                            .min_values = item["minValues"].integer()});
  });
  return requirements;
}

bool Selector::matches(const StringMap& of) const {
  return present && of.contains_all(labels) &&
         std::ranges::all_of(expressions, [&](const Requirement& r) { return holds(r, of); });
}

Selector read_selector(Json selector) {
  return {.present = selector.exists(),
          .labels = read_string_map(selector["matchLabels"]),
          .expressions = read_requirements(selector["matchExpressions"])};
}

TargetRef read_target_ref(Json ref) {
  return {.api_version = ref["apiVersion"].string(), .kind = ref["kind"].string(), .name = ref["name"].string()};
}

std::vector<Taint> read_taints(Json list) {
  std::vector<Taint> taints;
  list.for_each(
      [&](Json item) { taints.push_back({item["key"].string(), item["value"].string(), item["effect"].string()}); });
  return taints;
}

std::vector<std::string> read_texts(Json list) {
  std::vector<std::string> texts;
  list.for_each([&](Json item) { texts.push_back(item.scalar()); });
  return texts;
}

std::optional<Duration> read_duration(Json value) {
  return value.exists() ? manifest::read_duration(value.text()) : std::nullopt;
}

}  // namespace capstan::kube
