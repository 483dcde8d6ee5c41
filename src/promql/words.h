#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "promql/lexer.h"

/// The keywords and operators of PromQL.
namespace capstan::promql {

std::optional<Binary::Op> binary_operator(const Token& token);
std::optional<Aggregation::Op> aggregation_operator(const Token& token);
std::optional<LabelMatcher::Op> match_operator(const Token& token);

/// Returns the precedence of an operator. A higher value binds tighter. A unary minus has the precedence of a
/// multiplication.
int precedence(Binary::Op op);
bool takes_parameter(Aggregation::Op op);

/// Returns true if a word cannot be a metric name: atan2, bool, on, ignoring, group_left and group_right, as in
/// Prometheus. The other keywords, such as "and" and "by", are metric names where an expression is expected.
bool is_reserved(const Token& token);

/// Returns ", did you mean \"rate\"?" if a function has a similar name, otherwise an empty text.
std::string suggested_function(std::string_view name);

}  // namespace capstan::promql
