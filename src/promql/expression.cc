#include "promql/expression.h"

#include <algorithm>
#include <iterator>

#include "promql/function.h"

namespace capstan::promql {
namespace {

using Children = std::vector<const Expression*>;

void add(Children& out, const ExpressionPtr& child) {
  if (child) out.push_back(child.get());
}

void collect(Children&, const Number&) {}
void collect(Children&, const Text&) {}
void collect(Children&, const Selector&) {}
void collect(Children& out, const Subquery& node) { add(out, node.operand); }
void collect(Children& out, const Aggregation& node) { add(out, node.parameter), add(out, node.operand); }
void collect(Children& out, const Call& node) {
  for (const ExpressionPtr& argument : node.arguments) add(out, argument);
}
void collect(Children& out, const Binary& node) { add(out, node.left), add(out, node.right); }
void collect(Children& out, const Negation& node) { add(out, node.operand); }

/// The functions whose result depends on the evaluation time.
constexpr std::string_view kTimeDependent[] = {"day_of_month", "day_of_week", "day_of_year", "days_in_month",
                                               "hour",         "minute",      "month",       "predict_linear",
                                               "time",         "timestamp",   "year"};

bool fixed(const Number&) { return true; }
bool fixed(const Text&) { return true; }
bool fixed(const Selector& node) { return node.shift.at != Shift::At::evaluation; }
bool fixed(const Subquery& node) { return node.shift.at != Shift::At::evaluation; }
bool fixed(const Aggregation& node) { return is_fixed(*node.operand); }
bool fixed(const Call& node) {
  return std::ranges::find(kTimeDependent, node.function->name) == std::end(kTimeDependent) &&
         std::ranges::all_of(node.arguments, [](const ExpressionPtr& argument) { return is_fixed(*argument); });
}
bool fixed(const Binary& node) { return is_fixed(*node.left) && is_fixed(*node.right); }
bool fixed(const Negation& node) { return is_fixed(*node.operand); }

}  // namespace

std::vector<const Expression*> children(const Expression& expression) {
  Children out;
  std::visit([&](const auto& node) { collect(out, node); }, expression.node);
  return out;
}

void walk(const Expression& expression, const std::function<void(const Expression&)>& visit) {
  visit(expression);
  for (const Expression* child : children(expression)) walk(*child, visit);
}

bool is_fixed(const Expression& expression) {
  return std::visit([](const auto& node) { return fixed(node); }, expression.node);
}

}  // namespace capstan::promql
