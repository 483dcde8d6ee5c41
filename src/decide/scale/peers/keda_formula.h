#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "base/error.h"
#include "decide/scale/peers/keda_expression.h"

namespace capstan::decide::scale::keda {

/// What a name stands for: a trigger's value, or nothing where its scaler failed; absent: there is no such trigger.
using Lookup = std::function<std::optional<std::optional<double>>(std::string_view name)>;

/// `advanced.scalingModifiers.formula` of a ScaledObject over the values of its triggers: of KEDA's expression language
/// (keda_expression.h) numbers, truths, nil and lists; + - * / % **, comparisons, && || !, `a ? b : c` and `a ?? b` (b
/// where a is nil), which binds tightest; the functions of numbers (abs, ceil, floor, round, int, float, min, max,
/// mean, median) and of lists (len, first, last, sum, count, all, any, none, one, filter, map, find..., reduce).
/// @return nothing where the result is nil; an error with the column for anything else of the language, for a name that
///     is no trigger, for arithmetic with nil, for % of what is no whole number, as a trigger's value never is, and for
///     a result that is a truth or a list: KEDA takes the float of it
Result<std::optional<double>> evaluate_formula(std::string_view formula, const Lookup& lookup);

/// The same of a formula that was read already, with the triggers of `lookup`.
Result<std::optional<double>> evaluate_formula(const Expression& formula, const Lookup& lookup);

}  // namespace capstan::decide::scale::keda
