#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace capstan::decide::scale::keda {

/// A formula of KEDA's expression language (expr-lang/expr) as a tree. The names of triggers point into the formula,
/// which outlives the tree.
struct Expression {
  enum class Kind : std::uint8_t {
    nil,
    truth,        ///< true, false
    number,       ///< 2, .5, 1e3
    trigger,      ///< a name that stands for a trigger's value
    element,      ///< #: the item that a predicate looks at
    accumulator,  ///< #acc: what `reduce` has so far
    index,        ///< #index
    list,         ///< [a, b]
    call,         ///< `text` is the function's name; with `predicate` its second part is one
    sign,         ///< `text` is the operator; one part where it stands before it, else two
    comparison,   ///< a < b <= c: one part more than `signs`
    choice,       ///< a ? b : c
  };

  Kind kind = Kind::nil;
  std::uint32_t column = 0;  ///< counts from 1
  std::string_view text;
  bool truth = false;
  bool predicate = false;
  double number = 0;
  bool whole = false;  ///< written without a point: expr's integer, which alone % takes
  std::vector<std::string_view> signs;
  std::vector<Expression> parts;
};

/// What KEDA's admission webhook makes of a formula.
/// @return an error with the column for what is not of the language, for a name that `is_trigger` denies, and for the
///     parts of the language that are left out: strings, maps, ranges, members, pipes, variables, times, `in`, `?:`,
///     `?.`, numbers such as 0x10 and 1_000; evaluate_formula refuses lists of lists besides
Result<Expression> parse_expression(std::string_view formula,
                                    const std::function<bool(std::string_view name)>& is_trigger);

}  // namespace capstan::decide::scale::keda
