#pragma once

#include <optional>
#include <string>

#include "promql/expression.h"

namespace capstan::promql {

/// The reason why an expression has no type.
struct TypeFault {
  Place place;
  std::string message;
};

/// Sets the type of the expression from the types of its parts, or returns why it has no type.
std::optional<TypeFault> check_types(Expression& expression);

}  // namespace capstan::promql
