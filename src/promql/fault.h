#pragma once

#include <string>

#include "promql/expression.h"

namespace capstan::promql {

/// Ends an evaluation from wherever it is found; `evaluate` catches it and makes it an Error.
struct EvaluationFault {
  Place place;
  std::string message;
};

}  // namespace capstan::promql
