#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "base/error.h"
#include "peers/formula/keda_expression.h"

namespace capstan::peers::keda {

/// A function that returns a trigger's value. The inner optional is empty if the trigger's scaler failed, the outer one
/// if there is no such trigger.
using Lookup = std::function<std::optional<std::optional<double>>(std::string_view name)>;

/// Evaluates `advanced.scalingModifiers.formula` of a ScaledObject on its triggers' values. Supports this part of
/// KEDA's expression language (keda_expression.h): numbers, booleans, nil and lists; + - * / % **, comparisons, && ||
/// !, `a ? b : c` and `a ?? b` (b if a is nil), which binds tightest; the functions of numbers (abs, ceil, floor,
/// round, int, float, min, max, mean, median) and of lists (len, first, last, sum, count, all, any, none, one, filter,
/// map, find..., reduce).
/// @return nothing if the result is nil; an error with its column for any other part of the language, for an unknown
///   trigger, for arithmetic with nil, for % of a number that is not an integer (a trigger's value never is one), and
///   for a result that is a boolean or a list, because KEDA requires a float
Result<std::optional<double>> evaluate_formula(std::string_view formula, const Lookup& lookup);

/// Evaluates a parsed formula with the triggers of `lookup`.
Result<std::optional<double>> evaluate_formula(const Expression& formula, const Lookup& lookup);

}  // namespace capstan::peers::keda
