#include "promql/check.h"

#include <algorithm>

#include "promql/function.h"
#include "promql/regex.h"
#include "promql/words.h"

namespace capstan::promql {
namespace {

using Fault = std::optional<TypeFault>;

std::string found(const Expression& expression) { return ", found " + std::string(name(expression.type)); }

Fault check(Expression& expression, Selector& node) {
  expression.type = node.range ? ValueType::matrix : ValueType::vector;
  bool matches_all = node.metric.empty();
  for (const LabelMatcher& matcher : node.matchers) {
    const LabelTest test(matcher);
    if (test.fault()) return TypeFault{matcher.span.begin, "the regular expression is invalid: " + *test.fault()};
    matches_all = matches_all && test.matches("");
    if (matcher.name == "__name__" && matcher.op == LabelMatcher::Op::equal && !node.metric.empty()) {
      return TypeFault{matcher.span.begin, "the metric name is given twice"};
    }
  }
  if (!matches_all) return std::nullopt;
  return TypeFault{expression.span.begin,
                   "the selector matches every series, expected a metric name or a label that is not empty"};
}

Fault check(Expression& expression, Subquery& node) {
  expression.type = ValueType::matrix;
  if (node.operand->type == ValueType::vector) return std::nullopt;
  return TypeFault{node.operand->span.begin, "a subquery takes an instant vector" + found(*node.operand)};
}

Fault check(Expression& expression, Aggregation& node) {
  expression.type = ValueType::vector;
  const std::string subject = std::string(text(node.op));
  if (node.operand->type != ValueType::vector) {
    return TypeFault{node.operand->span.begin, subject + " takes an instant vector" + found(*node.operand)};
  }
  if (!node.parameter) return std::nullopt;
  const ValueType expected = node.op == Aggregation::Op::count_values ? ValueType::string : ValueType::scalar;
  if (node.parameter->type == expected) return std::nullopt;
  return TypeFault{node.parameter->span.begin, subject + " takes a " + std::string(name(expected)) +
                                                   " as its first argument" + found(*node.parameter)};
}

Fault check(Expression& expression, Call& node) {
  const Function& function = *node.function;
  const std::string subject(function.name);
  expression.type = function.result;
  const std::size_t count = node.arguments.size();
  const std::size_t max_count = function.arguments.size();
  if (count < function.required || (count > max_count && !function.is_variadic)) {
    std::string expected = std::to_string(function.required);
    if (function.is_variadic)
      expected += " or more";
    else if (max_count != function.required)
      expected += " to " + std::to_string(max_count);
    return TypeFault{expression.span.begin,
                     subject + " takes " + expected + " arguments, found " + std::to_string(count)};
  }
  for (std::size_t i = 0; i < count; ++i) {
    const ValueType expected = function.arguments[std::min(i, max_count - 1)];
    const Expression& argument = *node.arguments[i];
    if (argument.type == expected) continue;
    std::string message = subject + " takes a " + std::string(name(expected)) + " as argument " + std::to_string(i + 1);
    if (expected == ValueType::matrix && argument.type == ValueType::vector) message += ", such as metric[5m]";
    return TypeFault{argument.span.begin, message + found(argument)};
  }
  return std::nullopt;
}

Fault check(Expression& expression, Binary& node) {
  const std::string subject = "\"" + std::string(text(node.op)) + "\"";
  for (const Expression* side : {node.left.get(), node.right.get()}) {
    if (side->type == ValueType::scalar || side->type == ValueType::vector) continue;
    return TypeFault{side->span.begin, subject + " takes scalars and instant vectors" + found(*side)};
  }
  const bool left = node.left->type == ValueType::vector;
  const bool right = node.right->type == ValueType::vector;
  expression.type = left || right ? ValueType::vector : ValueType::scalar;
  if (left && right) return std::nullopt;
  if (is_set_operator(node.op)) return TypeFault{expression.span.begin, subject + " does not take a scalar"};
  if (!node.labels.empty())
    return TypeFault{expression.span.begin, "on and ignoring need instant vectors on both sides"};
  if (!left && !right && is_comparison(node.op) && !node.returns_bool) {
    return TypeFault{expression.span.begin,
                     "a comparison of two scalars needs bool: " + std::string(text(node.op)) + " bool"};
  }
  return std::nullopt;
}

Fault check(Expression& expression, Number&) { return expression.type = ValueType::scalar, std::nullopt; }
Fault check(Expression& expression, Text&) { return expression.type = ValueType::string, std::nullopt; }
Fault check(Expression& expression, Negation& node) { return expression.type = node.operand->type, std::nullopt; }

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
