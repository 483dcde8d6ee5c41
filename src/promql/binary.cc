#include "promql/binary.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "promql/aggregate.h"
#include "promql/fault.h"
#include "promql/instant_function.h"

namespace capstan::promql {
namespace {

using Op = Binary::Op;

Labels signature(const Binary& node, const Labels& labels) { return group_labels(labels, !node.on, node.labels); }

bool drops_name(const Binary& node) { return !is_comparison(node.op) || node.returns_bool; }

/// Returns the labels of the result for two matched elements: the labels of the "many" side, or in a one-to-one match
/// only the labels by which the elements were matched.
Labels result_labels(const Binary& node, const Labels& many, const Labels& one) {
  Labels out = many;
  if (drops_name(node)) remove(out, kMetricName);
  if (node.group == Binary::Group::none) {
    std::erase_if(out, [&](const auto& label) {
      const bool named = std::ranges::find(node.labels, label.first) != node.labels.end();
      return node.on ? !named : named;
    });
  }
  for (const std::string& name : node.included) set(out, name, std::string(get(one, name)));
  return out;
}

Vector combine_sets(const Binary& node, const Vector& left, const Vector& right) {
  std::set<Labels> keys;
  for (const Sample& sample : node.op == Op::or_ ? left : right) keys.insert(signature(node, sample.labels));
  const auto has_match = [&](const Sample& sample) { return keys.contains(signature(node, sample.labels)); };
  Vector out;
  if (node.op == Op::or_) {
    out = left;
    std::ranges::copy_if(right, std::back_inserter(out), [&](const Sample& sample) { return !has_match(sample); });
  } else {
    std::ranges::copy_if(left, std::back_inserter(out),
                         [&](const Sample& sample) { return has_match(sample) == (node.op == Op::and_); });
  }
  return out;
}

/// Returns the value for a pair of numbers, or nothing if the comparison drops the pair.
std::optional<double> combine_or_drop(const Binary& node, double left, double right, double compared) {
  const double value = combine(node.op, left, right);
  if (!is_comparison(node.op) || node.returns_bool) return value;
  return value != 0 ? std::optional(compared) : std::nullopt;
}

}  // namespace

double combine(Op op, double left, double right) {
  switch (op) {
    case Op::add:
      return left + right;
    case Op::subtract:
      return left - right;
    case Op::multiply:
      return left * right;
    case Op::divide:
      return left / right;
    case Op::modulo:
      return std::fmod(left, right);
    case Op::power:
      return power(left, right);
    case Op::equal:
      return left == right;
    case Op::not_equal:
      return left != right;
    case Op::less:
      return left < right;
    case Op::less_equal:
      return left <= right;
    case Op::greater:
      return left > right;
    case Op::greater_equal:
      return left >= right;
    default:
      return std::nan("");
  }
}

Vector combine(const Binary& node, const Vector& vector, double number, bool number_is_left) {
  Vector out;
  for (const Sample& sample : vector) {
    const double left = number_is_left ? number : sample.value;
    const double right = number_is_left ? sample.value : number;
    const std::optional<double> value = combine_or_drop(node, left, right, sample.value);
    if (!value) continue;
    out.push_back({sample.labels, *value});
    if (drops_name(node)) remove(out.back().labels, kMetricName);
  }
  return out;
}

Vector combine(const Binary& node, const Vector& left, const Vector& right, const Place& place) {
  if (is_set_operator(node.op)) return combine_sets(node, left, right);
  if (left.empty() || right.empty()) return {};
  const bool many_right = node.group == Binary::Group::right;
  const Vector& many = many_right ? right : left;
  const Vector& one = many_right ? left : right;
  std::map<Labels, const Sample*> by_signature;
  for (const Sample& sample : one) {
    const Labels key = signature(node, sample.labels);
    if (by_signature.emplace(key, &sample).second) continue;
    throw EvaluationFault{place, "more than one series of the " + std::string(many_right ? "left" : "right") +
                                     " side has the labels " + text(key) + ": many-to-many matching is not allowed"};
  }
  std::map<Labels, std::set<Labels>> matched;
  Vector out;
  for (const Sample& sample : many) {
    const Labels key = signature(node, sample.labels);
    const auto found = by_signature.find(key);
    if (found == by_signature.end()) continue;
    const Sample& other = *found->second;
    const double left_value = many_right ? other.value : sample.value;
    const double right_value = many_right ? sample.value : other.value;
    const std::optional<double> value = combine_or_drop(node, left_value, right_value, left_value);
    if (!value) continue;
    Labels labels = result_labels(node, sample.labels, other.labels);
    std::set<Labels>& seen = matched[key];
    const bool is_duplicate = node.group == Binary::Group::none ? !seen.empty() : seen.contains(labels);
    if (is_duplicate) {
      throw EvaluationFault{place, node.group == Binary::Group::none
                                       ? "several series of the left side have the labels " + text(key) +
                                             ": many-to-one matching needs group_left or group_right"
                                       : "the labels " + text(labels) + " appear more than once in the result"};
    }
    seen.insert(labels);
    out.push_back({std::move(labels), *value});
  }
  return out;
}

}  // namespace capstan::promql
