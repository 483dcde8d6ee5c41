#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace capstan::peers::keda {

/// A formula of KEDA's expression language (expr-lang/expr) as a tree. Trigger names point into the formula, which must
/// outlive the tree.
struct Expression {
  enum class Kind : std::uint8_t {
    nil,
    truth,        ///< true, false
    number,       ///< 2, .5, 1e3
    trigger,      ///< the name of a trigger, evaluated as its value
    element,      ///< #: the current item of a predicate
    accumulator,  ///< #acc: the accumulated value of `reduce`
    index,        ///< #index
    list,         ///< [a, b]
    call,         ///< `text` is the function's name; with `predicate` the second part is a predicate
    sign,         ///< `text` is the operator; one part if it is a prefix, else two
    comparison,   ///< a < b <= c: one more part than `signs`
    choice,       ///< a ? b : c
  };

  Kind kind = Kind::nil;
  std::uint32_t column = 0;  ///< column in the formula, from 1
  std::string_view text;
  bool truth = false;
  bool predicate = false;
  double number = 0;
  bool whole = false;  ///< written without a point or exponent: an integer, the only type that % accepts
  std::vector<std::string_view> signs;
  std::vector<Expression> parts;
};

/// Parses a formula as KEDA's admission webhook does.
/// @return an error with its column for invalid syntax, for a name that `is_trigger` rejects, and for unsupported parts
///   of the language: strings, maps, ranges, members, pipes, variables, times, `in`, `a ?: b`, `a?.b`, and numbers such
///   as 0x10 and 1_000. evaluate_formula also rejects lists of lists
Result<Expression> parse_expression(std::string_view formula,
                                    const std::function<bool(std::string_view name)>& is_trigger);

}  // namespace capstan::peers::keda
