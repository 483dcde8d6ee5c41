#pragma once

#include "promql/evaluate.h"

namespace capstan::promql {

/// Between two numbers; a comparison gives 1 or 0.
double combine(Binary::Op op, double left, double right);

/// Between a vector and a number, on whichever side it stands.
Vector combine(const Binary& node, const Vector& vector, double number, bool number_is_left);

/// Between two vectors, their elements matched by labels. Throws EvaluationFault where many meet many.
Vector combine(const Binary& node, const Vector& left, const Vector& right, const Place& place);

}  // namespace capstan::promql
