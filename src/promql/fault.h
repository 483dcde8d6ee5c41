#pragma once

#include <string>

#include "promql/expression.h"

namespace capstan::promql {

/// The exception that ends an evaluation. `evaluate` catches it and returns an Error.
struct EvaluationFault {
  Place place;
  std::string message;
};

}  // namespace capstan::promql
