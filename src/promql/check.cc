#include "promql/check.h"

#include <algorithm>

#include "promql/function.h"
#include "promql/regex.h"
#include "promql/words.h"

namespace capstan::promql {
namespace {

using Fault = std::optional<TypeFault>;

std::string found(const Expression& expression) { return ", found " + std::string(name(expression.type)); }

Fault check(Expression& whole, Selector& node) {
  whole.type = node.range ? ValueType::matrix : ValueType::vector;
  bool takes_all = node.metric.empty();
  for (const LabelMatcher& matcher : node.matchers) {
    const LabelTest test(matcher);
    if (test.fault()) return TypeFault{matcher.span.begin, "the regular expression is none: " + *test.fault()};
    takes_all = takes_all && test.holds("");
    if (matcher.name == "__name__" && matcher.op == LabelMatcher::Op::equal && !node.metric.empty()) {
      return TypeFault{matcher.span.begin, "the metric's name is given twice"};
    }
  }
  if (!takes_all) return std::nullopt;
  return TypeFault{whole.span.begin, "the selector takes every series, expected a name or a label that is not empty"};
}

Fault check(Expression& whole, Subquery& node) {
  whole.type = ValueType::matrix;
  if (node.of->type == ValueType::vector) return std::nullopt;
  return TypeFault{node.of->span.begin, "a subquery goes over an instant vector" + found(*node.of)};
}

Fault check(Expression& whole, Aggregation& node) {
  whole.type = ValueType::vector;
  const std::string what = std::string(text(node.op));
  if (node.of->type != ValueType::vector) {
    return TypeFault{node.of->span.begin, what + " goes over an instant vector" + found(*node.of)};
  }
  if (!node.parameter) return std::nullopt;
  const ValueType expected = node.op == Aggregation::Op::count_values ? ValueType::string : ValueType::scalar;
  if (node.parameter->type == expected) return std::nullopt;
  return TypeFault{node.parameter->span.begin,
                   what + " takes a " + std::string(name(expected)) + " first" + found(*node.parameter)};
}

Fault check(Expression& whole, Call& node) {
  const Function& function = *node.function;
  const std::string what(function.name);
  whole.type = function.result;
  const std::size_t count = node.arguments.size();
  const std::size_t most = function.arguments.size();
  if (count < function.required || (count > most && !function.any_more)) {
    std::string expected = std::to_string(function.required);
    if (function.any_more)
      expected += " or more";
    else if (most != function.required)
      expected += " to " + std::to_string(most);
    return TypeFault{whole.span.begin, what + " takes " + expected + " arguments, found " + std::to_string(count)};
  }
  for (std::size_t i = 0; i < count; ++i) {
    const ValueType expected = function.arguments[std::min(i, most - 1)];
    const Expression& argument = *node.arguments[i];
    if (argument.type == expected) continue;
    std::string message = what + " takes a " + std::string(name(expected)) + " as argument " + std::to_string(i + 1);
    if (expected == ValueType::matrix && argument.type == ValueType::vector) message += ", such as metric[5m]";
    return TypeFault{argument.span.begin, message + found(argument)};
  }
  return std::nullopt;
}

Fault check(Expression& whole, Binary& node) {
  const std::string what = "\"" + std::string(text(node.op)) + "\"";
  for (const Expression* side : {node.left.get(), node.right.get()}) {
    if (side->type == ValueType::scalar || side->type == ValueType::vector) continue;
    return TypeFault{side->span.begin, what + " goes between scalars and instant vectors" + found(*side)};
  }
  const bool left = node.left->type == ValueType::vector;
  const bool right = node.right->type == ValueType::vector;
  whole.type = left || right ? ValueType::vector : ValueType::scalar;
  if (left && right) return std::nullopt;
  if (is_set_operator(node.op)) return TypeFault{whole.span.begin, what + " does not go with a scalar"};
  if (!node.labels.empty()) return TypeFault{whole.span.begin, "on and ignoring go between instant vectors only"};
  if (!left && !right && is_comparison(node.op) && !node.returns_bool) {
    return TypeFault{whole.span.begin,
                     "a comparison of two scalars needs bool: " + std::string(text(node.op)) + " bool"};
  }
  return std::nullopt;
}

Fault check(Expression& whole, Number&) { return whole.type = ValueType::scalar, std::nullopt; }
Fault check(Expression& whole, Text&) { return whole.type = ValueType::string, std::nullopt; }
Fault check(Expression& whole, Negation& node) { return whole.type = node.of->type, std::nullopt; }

}  // namespace

std::string_view name(ValueType type) {
  switch (type) {
    case ValueType::scalar:
      return "scalar";
    case ValueType::string:
      return "string";
    case ValueType::vector:
      return "instant vector";
    case ValueType::matrix:
      return "range vector";
  }
  return "";
}

std::optional<TypeFault> check_types(Expression& expression) {
  return std::visit([&](auto& node) { return check(expression, node); }, expression.node);
}

}  // namespace capstan::promql
