#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "promql/lexer.h"

/// The words and signs that have a meaning of their own.
namespace capstan::promql {

std::optional<Binary::Op> binary_operator(const Token& token);
std::optional<Aggregation::Op> aggregation_operator(const Token& token);
std::optional<LabelMatcher::Op> match_operator(const Token& token);

/// The higher binds tighter; a sign binds as a product does.
int precedence(Binary::Op op);
bool takes_parameter(Aggregation::Op op);

/// A word that is no metric's name, as in Prometheus: atan2, bool, on, ignoring, group_left, group_right. The other
/// words of the language, "and" and "by" among them, are names wherever an expression is expected.
bool is_reserved(const Token& token);

/// ", did you mean \"rate\"?" where a function is near, else nothing.
std::string meant_function(std::string_view name);

}  // namespace capstan::promql
