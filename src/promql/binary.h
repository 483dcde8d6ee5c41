#pragma once

#include "promql/evaluate.h"

namespace capstan::promql {

/// Applies an operator to two numbers. A comparison gives 1 or 0.
double combine(Binary::Op op, double left, double right);

/// Applies an operator to a vector and a number. `number_is_left` is true if the number is the left operand.
Vector combine(const Binary& node, const Vector& vector, double number, bool number_is_left);

/// Applies an operator to two vectors, whose elements are matched by labels. Throws EvaluationFault on a match that
/// Prometheus refuses, such as many-to-many.
Vector combine(const Binary& node, const Vector& left, const Vector& right, const Place& place);

}  // namespace capstan::promql
