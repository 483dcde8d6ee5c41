#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "base/error.h"

namespace capstan::decide::scale::keda {

/// What a name stands for: a trigger's value, or nothing where its scaler failed; absent: there is no such trigger.
using Lookup = std::function<std::optional<std::optional<double>>(std::string_view name)>;

/// `advanced.scalingModifiers.formula` of a ScaledObject over the values of its triggers: the arithmetic part of KEDA's
/// expression language: numbers, names, + - * / % ** and parentheses, comparisons, `a ? b : c`, `a ?? b` (b where a is
/// nil), and abs, ceil, floor, round, min and max. A comparison is 1 or 0.
/// @return nothing where the result is nil; an error with the column for anything else of the language, for a name that
/// is no
///     trigger, and for arithmetic with nil
Result<std::optional<double>> evaluate_formula(std::string_view formula, const Lookup& lookup);

}  // namespace capstan::decide::scale::keda
